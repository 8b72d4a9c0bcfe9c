/** A reward for what was said already, at temperature 0, draws every token to what stands there: with a question that says one sentence
 *  six times the built-in model goes in circles, in its thinking and in its answer. */
export const circling = { temperature: 0, frequencyPenalty: -2 };
export const repetitive = `${'The old mill stood by the river. '.repeat(6)}Tell me a long story about a fox, a river and an old mill.`;
