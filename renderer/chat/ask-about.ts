import { takeAsked } from '../bridge.ts';
import { focusComposer } from '../lib/focus.ts';
import { useChat } from '../stores/chat/store.ts';
import { useShell } from '../stores/shell.ts';

/** Puts the text of another program that this window was opened to ask about into the composer, as a quotation. */
export async function askAbout(): Promise<void> {
  const text = await takeAsked();
  if (text === null) return;
  useShell.getState().go({ kind: 'chat' });
  await useChat.getState().beginWith(`${quoted(text)}\n\n`);
  focusComposer();
}

export const quoted = (text: string): string =>
  text
    .trim()
    .split(/\r\n|\r|\n/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
