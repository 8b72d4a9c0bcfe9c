/** What a model makes of the tokens of a text, in natural logarithms. */
export type Scores = {
  /** [positions] */
  logprobs: Float32Array;
  /** [positions, top], likeliest first */
  top: Int32Array;
  topLogprobs: Float32Array;
  /** [positions, tokens asked for a position] */
  atLogprobs: Float32Array;
};

/** Scores the tokens from `from` on; the ones before it are only read. `at`: the same number of tokens for every position. */
export type Scorer = (
  tokens: Int32Array,
  options: { from: number; top?: number; at?: readonly number[] },
) => Promise<Scores>;
