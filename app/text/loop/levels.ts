//  How sure the guard must be before it says "loop". Set on the tuning half of test/app/text/loop/corpus; the hold-out reports.

export type Place = 'thinking' | 'answer';
export type Sensitivity = 'off' | 'relaxed' | 'balanced' | 'strict';

export interface Level {
  /** Copies in a row, the first one counted, and the tokens they must fill at least. */
  readonly copies: number;
  /** The same for sentences that are only alike. */
  readonly alike: number;
  readonly alikeTokens: number;
  readonly tokens: number;
  /** The same for text that repeats by nature: code, tables, numbers, encodings, drawings. */
  readonly dataCopies: number;
  readonly dataTokens: number;
  /** ... of which a copy that says something needs fewer: this, divided by its different tokens to the power of 1.5, ... */
  readonly dataSaid: number;
  /** ... but never fewer than these. */
  readonly dataLeast: number;
  /** Share of content words two sentences must have in common to be called the same. */
  readonly similarity: number;
  /** Share of a cycle that must be made of such sentences. */
  readonly coverage: number;
  /** What a sentence counts as a copy when only one counter moved on ("Attempt 7", "Attempt 8"). */
  readonly counting: number;
  /** ... and when its numbers or names are new, as in a sum that goes on. */
  readonly progress: number;
  /** ... and when it has a word that was not there before. */
  readonly fresh: number;
  /** Whether an answer to itself, without one clear period, is enough. */
  readonly collapse: boolean;
}

const thinking: Level = {
  copies: 3,
  alike: 2.7,
  alikeTokens: 60,
  tokens: 48,
  dataCopies: 32,
  dataTokens: 1024,
  dataSaid: 720,
  dataLeast: 4,
  similarity: 0.52,
  coverage: 0.7,
  counting: 1,
  progress: 0.03,
  fresh: 0.7,
  collapse: true,
};
const answer: Level = {
  copies: 3.75,
  alike: 3,
  alikeTokens: 120,
  tokens: 48,
  dataCopies: 32,
  dataTokens: 1024,
  dataSaid: 720,
  dataLeast: 4,
  similarity: 0.8,
  coverage: 0.9,
  counting: 0.03,
  progress: 0,
  fresh: 0,
  collapse: false,
};

/** Three levels for each place. An answer may repeat itself with reason (refrains, forms, lists), thinking hardly. */
export const levels: Record<Exclude<Sensitivity, 'off'>, Record<Place, Level>> = {
  relaxed: {
    thinking: {
      ...thinking,
      copies: 6,
      alike: 6,
      tokens: 128,
      dataCopies: 32,
      dataTokens: 2048,
      dataSaid: 1440,
      dataLeast: 8,
      progress: 0,
      collapse: false,
    },
    answer: {
      ...answer,
      copies: 8,
      alike: 8,
      tokens: 256,
      dataCopies: 32,
      dataTokens: 2048,
      dataSaid: 1440,
      dataLeast: 8,
      counting: 0,
    },
  },
  balanced: { thinking, answer },
  strict: {
    thinking: { ...thinking, tokens: 32, dataCopies: 8, dataTokens: 384, dataSaid: 360, dataLeast: 3, progress: 0.1 },
    answer: { ...answer, copies: 3, tokens: 32, dataCopies: 8, dataTokens: 512, dataSaid: 360, counting: 0.25 },
  },
};
