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
  /** ... of which a copy that says something needs fewer: this, divided by (its tokens times its different tokens) to the power of 0.75, ... */
  readonly dataSaid: number;
  /** ... but never fewer than these. */
  readonly dataLeast: number;
  /** Share of content words two sentences must have in common to be called the same. */
  readonly similarity: number;
  /** Share of a cycle that must be made of such sentences. */
  readonly coverage: number;
  /** What a sentence counts as a copy when only one counter moved on ("Attempt 7", "Attempt 8"); ... */
  readonly counting: number;
  /** ... when all its values stood there before, in an earlier copy; ... */
  readonly back: number;
  /** ... the same in a list of such lines (moves, rows, cases), whose values come back by nature; ... */
  readonly listed: number;
  /** ... when its numbers or names are others; ... */
  readonly progress: number;
  /** ... and when its words are others, but similar. */
  readonly reworded: number;
  /** All that is multiplied by this when a word or a name was never in the text. */
  readonly fresh: number;
  /** Share of such sentences that a round may have. */
  readonly freshShare: number;
  /** Copies without a new word, and the tokens they fill, that are worth a quiet line. */
  readonly quietCopies: number;
  readonly quietTokens: number;
  /** Paragraphs in a row that only take up again what was said; 0: not watched. */
  readonly returns: number;
  /** Whether an answer to itself, without one clear period, is enough. */
  readonly collapse: boolean;
}

const thinking: Level = {
  copies: 3,
  alike: 2.7,
  alikeTokens: 60,
  tokens: 48,
  dataCopies: 32,
  dataTokens: 256,
  dataSaid: 100,
  dataLeast: 3.75,
  similarity: 0.52,
  coverage: 0.8,
  counting: 1,
  back: 0.5,
  listed: 0,
  progress: 0.03,
  reworded: 1,
  fresh: 0.6,
  freshShare: 0.1,
  quietCopies: 8,
  quietTokens: 200,
  returns: 4,
  collapse: true,
};
const answer: Level = {
  copies: 3.75,
  alike: 3,
  alikeTokens: 120,
  tokens: 48,
  dataCopies: 32,
  dataTokens: 256,
  dataSaid: 100,
  dataLeast: 3.75,
  similarity: 0.8,
  coverage: 0.9,
  counting: 0.03,
  back: 0.1,
  listed: 0,
  progress: 0,
  reworded: 0.5,
  fresh: 0,
  freshShare: 0.02,
  quietCopies: 8,
  quietTokens: 240,
  returns: 0,
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
      dataSaid: 200,
      dataLeast: 8,
      progress: 0,
      quietCopies: 14,
      returns: 0,
      collapse: false,
    },
    answer: {
      ...answer,
      copies: 8,
      alike: 8,
      tokens: 256,
      dataCopies: 32,
      dataTokens: 2048,
      dataSaid: 200,
      dataLeast: 8,
      counting: 0,
      quietCopies: 24,
    },
  },
  balanced: { thinking, answer },
  strict: {
    thinking: {
      ...thinking,
      tokens: 32,
      dataCopies: 8,
      dataTokens: 128,
      dataSaid: 60,
      dataLeast: 3,
      progress: 0.1,
      quietCopies: 5,
      returns: 3,
    },
    answer: {
      ...answer,
      copies: 3,
      tokens: 32,
      dataCopies: 8,
      dataTokens: 128,
      dataSaid: 60,
      counting: 0.25,
      quietCopies: 8,
    },
  },
};
