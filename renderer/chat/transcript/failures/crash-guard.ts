import type { ChatId } from '../../../../app/protocol/index.ts';

//  A chat whose text crashes the page would crash it again at each start, since the page reopens the same chat. So the chat
//  being drawn is recorded, and the record removed once it is drawn. A record found at the next start means a crash: after
//  the second, that chat is shown as plain text.

const DRAWING = 'longhand.drawing';
const PLAIN = 'longhand.plain-chats';
const MAX_CRASHES = 2;
const MAX_ENTRIES = 50;
/** A chat shown for this long did not crash the page. */
const STANDS_MS = 3000;

type Drawing = { chatId: ChatId; crashes: number };

/** Reads the browser's storage, which may be full or disabled: then there is no guard. */
function readStored<Value>(name: string, otherwise: Value): Value {
  try {
    return (JSON.parse(localStorage.getItem(name) ?? 'null') as Value | null) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // as above
  }
}

const plainChats = (): ChatId[] => readStored<ChatId[]>(PLAIN, []);

/** Whether a chat is to be shown as plain text. Asked once before it is drawn. */
export function beginDrawing(chatId: ChatId): { plain: boolean; stop: () => void } {
  const before = readStored<Drawing | null>(DRAWING, null);
  const crashes = before?.chatId === chatId ? before.crashes : 0;
  if (crashes >= MAX_CRASHES)
    keep(PLAIN, [chatId, ...plainChats().filter((id) => id !== chatId)].slice(0, MAX_ENTRIES));
  const plain = plainChats().includes(chatId);
  if (plain) {
    localStorage.removeItem(DRAWING);
    return { plain, stop: () => {} };
  }
  keep(DRAWING, { chatId, crashes: crashes + 1 } satisfies Drawing);
  const stands = () => {
    if (readStored<Drawing | null>(DRAWING, null)?.chatId === chatId) localStorage.removeItem(DRAWING);
  };
  const timer = setTimeout(stands, STANDS_MS);
  // Leaving and reloading are not crashes.
  window.addEventListener('pagehide', stands);
  const stop = () => {
    clearTimeout(timer);
    window.removeEventListener('pagehide', stands);
    stands();
  };
  return { plain, stop };
}

/** The user wants to try drawing it again. */
export function drawAgain(chatId: ChatId): void {
  keep(
    PLAIN,
    plainChats().filter((id) => id !== chatId),
  );
}
