// The prompt that both sides of the benchmark read, and how their times become figures.

/** Ids that every vocabulary has, all different for a thousand tokens, since a repeated token would come from a warm cache. */
export const promptOf = (length) => Int32Array.from({ length }, (_, i) => 5 + ((i * 37) % 1009));

/** The warm-up run: long enough for threads to start and pages to be loaded. */
export const warmOf = ({ read }) => ({ read: Math.min(read, 64), write: 8 });

export const answerOf = ({ read }, firstTokenMs, decodeMs, decoded) => ({
  prefill: (read * 1000) / firstTokenMs,
  decode: (decoded * 1000) / decodeMs,
  firstTokenMs,
});
