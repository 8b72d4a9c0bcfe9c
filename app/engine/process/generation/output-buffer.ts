import type { ModelText } from '../../../text/model-text.ts';
import type { Part } from '../../../text/thinking.ts';
import { callMarkers } from '../../../text/tool-calls/call-formats.ts';
import type { Prompt } from '../../ipc-protocol.ts';
import { createOutputDecoder, type OutputDecoder } from './output-decoder.ts';

type Kind = Part['kind'];
type Lengths = Record<Kind, number>;

/** The answer as tokens and as shown text. Tokens can be retracted and an answer can be continued: text that is
 *  on the screen already is never shown twice. */
export type OutputBuffer = {
  readonly ids: readonly number[];
  readonly inThinking: boolean;
  /** As of the decoder. */
  readonly stoppedBy: string | null;
  /** Adds a token. `text`: its text before anything is held back. */
  push(id: number): { parts: Part[]; text: string; place: Kind; stopped: boolean };
  flush(): Part[];
  /** Truncates to `length` tokens. Returns which kinds of text became shorter, with their new lengths. */
  cut(length: number): { kind: Kind; from: number }[];
};

export type OutputBufferOptions = {
  model: ModelText;
  /** The prompt ends inside an open thinking block. */
  inThinking: boolean;
  stops: readonly string[];
  /** Control tokens that are shown. */
  markers?: readonly string[];
  /** The earlier part of the answer: its tokens, and how much of its text is shown. */
  continuation: { ids: readonly number[]; shown: Lengths };
};

/** Splits the output of a model into shown parts. A raw continuation has no thinking: tags stay text. */
export function shownText(
  text: ModelText,
  { raw, tools }: Pick<Prompt, 'raw' | 'tools'>,
): Pick<OutputBufferOptions, 'model' | 'markers'> {
  if (!raw) return { model: text, markers: callMarkers(tools, text.template) };
  const { open, close } = text.thinking ?? {};
  return { model: { ...text, thinking: null }, markers: [open, close].filter((marker) => marker !== undefined) };
}

export function createOutputBuffer({
  model,
  inThinking,
  stops,
  markers = [],
  continuation,
}: OutputBufferOptions): OutputBuffer {
  const ids: number[] = [];
  // Edited text has no tokens; it precedes everything else.
  const byHand: Lengths = continuation.ids.length === 0 ? continuation.shown : { thinking: 0, answer: 0 };
  const shown: Lengths = { ...continuation.shown };
  let had: Lengths = { ...byHand };
  let decoder: OutputDecoder = open();
  for (const id of continuation.ids) push(id);

  function open(): OutputDecoder {
    const answering = byHand.answer > 0 || byHand.thinking > 0;
    return createOutputDecoder(model, { inThinking: inThinking && !answering, stops, shown: markers });
  }

  function push(id: number) {
    const place: Kind = decoder.inThinking ? 'thinking' : 'answer';
    ids.push(id);
    const { parts, text, stopped } = decoder.push(id);
    return { parts: parts.flatMap(fresh), text, place, stopped };
  }

  /** The part of a text that is not shown yet. */
  function fresh({ kind, text }: Part): Part[] {
    const start = had[kind];
    had[kind] += text.length;
    if (had[kind] <= shown[kind]) return [];
    const rest = text.slice(Math.max(0, shown[kind] - start));
    shown[kind] = had[kind];
    return [{ kind, text: rest }];
  }

  return {
    ids,
    get inThinking() {
      return decoder.inThinking;
    },
    get stoppedBy() {
      return decoder.stoppedBy;
    },
    push,
    flush: () => decoder.flush().flatMap(fresh),
    cut(length) {
      const remaining = ids.slice(0, length);
      ids.length = 0;
      had = { ...byHand };
      decoder = open();
      for (const id of remaining) push(id);
      const shorter = (['thinking', 'answer'] as const).filter((kind) => shown[kind] > had[kind]);
      for (const kind of shorter) shown[kind] = had[kind];
      return shorter.map((kind) => ({ kind, from: had[kind] }));
    },
  };
}
