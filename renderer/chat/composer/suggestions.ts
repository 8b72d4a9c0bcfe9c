import type { Request } from '../../../app/protocol/index.ts';

export type Blank = Request<'mcp.complete'>;

type SuggestionsOptions = {
  ask: (blank: Blank, signal: AbortSignal) => Promise<readonly string[]>;
  show: (suggestions: readonly string[]) => void;
};

/** Typing goes on for less than this between two letters. */
const PAUSE_MS = 150;
/** What is longer is a text: nobody completes it. */
const MAX_LENGTH = 200;

/** Asks what could be meant once typing pauses. Only the answer to what was asked last is shown, and a failure is no answer. */
export function createSuggestions({ ask, show }: SuggestionsOptions) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = new AbortController();

  function leave() {
    clearTimeout(timer);
    asked.abort();
  }

  async function answer(blank: Blank, { signal }: AbortController) {
    const found = await ask(blank, signal).catch(() => []);
    if (!signal.aborted) show(found.filter((one) => one !== blank.value));
  }

  return {
    want(blank: Blank, pause = PAUSE_MS) {
      leave();
      if (blank.value.length > MAX_LENGTH) return show([]);
      asked = new AbortController();
      timer = setTimeout(answer, pause, blank, asked);
    },
    /** Shows nothing, and does not wait for answers any more. */
    clear() {
      leave();
      show([]);
    },
    leave,
  };
}
