//  How sure the guard must be before it says "loop". Set on the tuning halves of test/app/text/loop; the others report.

export type Place = 'thinking' | 'answer';
export type Sensitivity = 'off' | 'relaxed' | 'balanced' | 'strict';

export interface Level {
  /** Copies in a row, the first one counted, and the tokens they must fill at least. */
  readonly copies: number;
  readonly tokens: number;
  /** The same for text that repeats by nature: code, tables, numbers, encodings, drawings. */
  readonly dataCopies: number;
  readonly dataTokens: number;
  /** ... of which a copy that says something needs fewer: this, divided by (its tokens times its different tokens) to the power of 0.75, ... */
  readonly dataSaid: number;
  /** ... but never fewer than these. */
  readonly dataLeast: number;
  /** Of copies that are only alike: the odds (natural logarithm) that are worth a card, and a quiet line; and the tokens of them. */
  readonly card: number;
  readonly quiet: number;
  readonly alikeTokens: number;
  /** Tokens of lines that come again in changing order that are worth a quiet line. */
  readonly quietTokens: number;
  /** What must speak for thinking that only takes up again what was said (logarithm of odds, summed); 0: not watched. */
  readonly returns: number;
  /** Of a list that counts on with entries that it has already: how many times as many of them as usual. */
  readonly listed: number;
  /** Whether an answer to itself, without one clear period, is enough. */
  readonly collapse: boolean;
}

const thinking: Level = {
  copies: 3,
  tokens: 48,
  dataCopies: 32,
  dataTokens: 256,
  dataSaid: 100,
  dataLeast: 3.75,
  card: 2.6,
  quiet: -0.6,
  alikeTokens: 60,
  quietTokens: 200,
  returns: 5,
  listed: 1,
  collapse: true,
};
const answer: Level = {
  copies: 3.75,
  tokens: 48,
  dataCopies: 32,
  dataTokens: 256,
  dataSaid: 100,
  dataLeast: 3.75,
  card: 3,
  quiet: -0.2,
  alikeTokens: 120,
  quietTokens: 240,
  returns: 0,
  listed: 1,
  collapse: false,
};

/** Three levels for each place. An answer may repeat itself with reason (refrains, forms, lists), thinking hardly. */
export const levels: Record<Exclude<Sensitivity, 'off'>, Record<Place, Level>> = {
  relaxed: {
    thinking: {
      ...thinking,
      copies: 6,
      tokens: 128,
      dataCopies: 32,
      dataTokens: 2048,
      dataSaid: 200,
      dataLeast: 8,
      card: thinking.card + 1.5,
      quiet: thinking.quiet + 1.5,
      returns: 0,
      listed: 2,
      collapse: false,
    },
    answer: {
      ...answer,
      copies: 8,
      tokens: 256,
      dataCopies: 32,
      dataTokens: 2048,
      dataSaid: 200,
      dataLeast: 8,
      card: answer.card + 1.5,
      quiet: answer.quiet + 1.5,
      listed: 2,
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
      card: thinking.card - 1,
      quiet: thinking.quiet - 1,
      returns: 4,
    },
    answer: {
      ...answer,
      copies: 3,
      tokens: 32,
      dataCopies: 8,
      dataTokens: 128,
      dataSaid: 60,
      card: answer.card - 1,
      quiet: answer.quiet - 1,
    },
  },
};
