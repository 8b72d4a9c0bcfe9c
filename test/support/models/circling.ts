/** A reward for repetition, at temperature 0: given a question that repeats one sentence six times, the built-in model loops both
 *  in its thinking and in its answer. */
export const circling = { temperature: 0, frequencyPenalty: -2 };
export const repetitive = `${'The old mill stood by the river. '.repeat(6)}Tell me a long story about a fox, a river and an old mill.`;
