/** Log-probabilities of the tokens of a text (natural logarithm). */
export type Scores = {
  /** [positions] */
  logprobs: Float32Array;
  /** [positions, top], likeliest first */
  top: Int32Array;
  topLogprobs: Float32Array;
  /** [positions, tokens asked for a position] */
  atLogprobs: Float32Array;
};

/** Scores the tokens from `from` on; earlier ones are context. `at`: the same number of tokens for every position. */
export type Scorer = (
  tokens: Int32Array,
  options: { from: number; top?: number; at?: readonly number[] },
) => Promise<Scores>;
