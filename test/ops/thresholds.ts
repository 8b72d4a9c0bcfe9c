// How far a device may be from the reference, as a share of the largest value of a result, and why.
export const thresholds = {
  /** The same fp32 products in another order of summation, over at most a few thousand terms. */
  sum: 2e-6,
  /** The same with integers of 15 bits in 8-bit weights, whose terms are larger than their sum: 2.5e-6 on an NVIDIA H100. */
  integerSum: 4e-6,
  /** The same plus a vector exp or rsqrt that is a unit or two in the last place off. */
  transcendental: 5e-6,
  /** A recurrence feeds rounding back for up to a hundred steps. */
  recurrence: 2e-5,
  /** Prefill in passes against prefill at once: the blocks of an online softmax or of a chunked recurrence begin elsewhere. */
  chunks: 5e-6,
  /** Activations of 8 bits with a scale every 32 columns: half a step of 1/127 each, averaged over a row. */
  int8Activations: 0.02,
  /** Activations of 8 bits of mantissa: half a unit of 2^-8 each, averaged over a row. */
  bf16Activations: 0.004,
  /** Weights and activations of 11 bits, summed in fp32: half a unit of 2^-11 each, averaged over a row. */
  halves: 6e-4,
  /** Queries, keys, values and weights of 8 bits of mantissa: half a unit of 2^-8 each; most of it is a value's where few are averaged. */
  bf16Attention: 0.01,
  /** A last bit of q or k may fall on the other side of a rounding of the cache. */
  rounded: 3e-3,
} as const;

/** What a cache type may cost against an fp32 cache: half a step of f16 (2^-11), of 8 bits (1/254), of 4 bits (1/14), grown
 *  by the softmax over a hundred keys. */
export const cacheThresholds = { f16: 3e-3, q8: 0.03, q4: 0.3 } as const;
