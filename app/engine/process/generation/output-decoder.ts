import type { ModelText } from '../../../text/model-text.ts';
import { createStopFinder } from '../../../text/stop-strings.ts';
import { createThinkingSplitter, type Part } from '../../../text/thinking.ts';
import { createDetokenizer } from '../../../text/tokenizer/detokenizer.ts';

/** Decodes the tokens of one answer into thinking and answer text. */
export type OutputDecoder = {
  push(id: number): { parts: Part[]; text: string; stopped: boolean };
  /** Text that was held back because more could have changed its meaning. */
  flush(): Part[];
  readonly inThinking: boolean;
  /** The stop string that ended the answer; null if none did. */
  readonly stoppedBy: string | null;
};

export type DecoderOptions = {
  inThinking: boolean;
  stops: readonly string[];
  /** Control tokens that are shown: they begin and end calls of tools. */
  shown?: readonly string[];
};

export function createOutputDecoder(model: ModelText, options: DecoderOptions): OutputDecoder {
  const detokenizer = createDetokenizer(model.tokenizer, { continues: true });
  const splitter = createThinkingSplitter(model.thinking, options.inThinking);
  // Stop strings apply to the answer, not to thinking.
  const stops = createStopFinder(options.stops);
  let stoppedBy: string | null = null;

  const spoken = [model.thinking?.open, model.thinking?.close, ...(options.shown ?? [])];
  /** Control tokens have no text, except those that open and close thinking or a call. */
  const textOf = (id: number): string => {
    const marker = model.tokenizer.markerOf(id);
    return marker?.special && !spoken.includes(marker.text) ? '' : detokenizer.push(id);
  };

  return {
    push(id) {
      const text = textOf(id);
      const parts: Part[] = [];
      for (const part of splitter.push(text)) {
        if (part.kind === 'thinking') {
          parts.push(part);
          continue;
        }
        const found = stops.push(part.text);
        if (found.text !== '') parts.push({ kind: 'answer', text: found.text });
        stoppedBy = found.stopped;
        if (stoppedBy !== null) return { parts, text, stopped: true };
      }
      return { parts, text, stopped: false };
    },
    flush() {
      const parts = splitter.flush();
      const thinking = parts.filter((part) => part.kind === 'thinking');
      const answer = parts.filter((part) => part.kind === 'answer').map((part) => stops.push(part.text).text);
      const text = answer.join('') + stops.flush();
      return text === '' ? thinking : [...thinking, { kind: 'answer', text }];
    },
    get inThinking() {
      return splitter.inThinking;
    },
    get stoppedBy() {
      return stoppedBy;
    },
  };
}
