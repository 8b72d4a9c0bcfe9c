//  Thresholds of the loop detector. Chosen on the tuning halves of test/app/text/loop and reported on the others.

export type Place = 'thinking' | 'answer';
export type Sensitivity = 'off' | 'relaxed' | 'balanced' | 'strict';

export interface Level {
  /** Consecutive copies, including the first, and the minimum tokens they span. */
  readonly copies: number;
  readonly tokens: number;
  /** The same for inherently repetitive text: code, tables, numbers, encodings, drawings. */
  readonly dataCopies: number;
  readonly dataTokens: number;
  /** ... fewer for copies with content: this, divided by (tokens × distinct tokens)^0.75, ... */
  readonly dataSaid: number;
  /** ... but at least this many. */
  readonly dataLeast: number;
  /** For similar copies: the log-odds for a card and for a quiet line, and their minimum tokens. */
  readonly card: number;
  readonly quiet: number;
  readonly alikeTokens: number;
  /** Tokens of recurring lines in changing order for a quiet line. */
  readonly quietTokens: number;
  /** Summed log-odds for thinking that only revisits earlier arguments; 0: not watched. */
  readonly returns: number;
  /** Factor on the number of repeated entries of a list. */
  readonly listed: number;
  /** Whether repetition without a clear period is enough. */
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

/** Three levels for each place. Answers may repeat themselves for good reasons (refrains, forms, lists), thinking hardly. */
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
