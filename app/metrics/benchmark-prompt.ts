/** The request of a benchmark: greedy, without thinking, a fixed number of tokens. */
export const benchmarkQuestion = (prompt: string) => ({
  prompt: {
    messages: [{ role: 'user' as const, text: prompt, thinking: '', ids: null }],
    thinking: false,
    continuation: null,
  },
  sampling: { temperature: 0, maxTokens: 128 },
  stops: [],
  thinkingBudget: { tokens: 0, seconds: null },
  loopGuard: null,
});
