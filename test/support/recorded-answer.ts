/** A long answer with everything an answer may contain: text, lists, tables, code and formulas. About four characters per token. */
export function recordedAnswer(tokens: number): string {
  const parts: string[] = [];
  let length = 0;
  for (let at = 0; length < tokens * 4; at += 1) {
    const part = kinds[at % kinds.length]?.(at) ?? '';
    parts.push(part);
    length += part.length + 2;
  }
  return parts.join('\n\n').slice(0, tokens * 4);
}

const sentence = (seed: number) =>
  `The ${['state', 'matrix', 'cache', 'layer', 'token'][seed % 5]} of step ${seed} is read **once**, corrected along \`k_${seed % 7}\` and written back, so its cost of $O(d^2)$ does not depend on position ${seed * 37}.`;

const kinds: ((at: number) => string)[] = [
  (at) => `## Part ${at}`,
  (at) => Array.from({ length: 5 }, (_, index) => sentence(at + index)).join(' '),
  (at) => Array.from({ length: 14 }, (_, index) => `${index + 1}. ${sentence(at + index)}`).join('\n'),
  (at) => `$$\nS_{${at}} = \\alpha_{${at}} S_{${at - 1}} (I - \\beta k k^\\top) + \\beta v k^\\top\n$$`,
  (at) =>
    `\`\`\`python\n${Array.from({ length: 30 }, (_, index) => `def step_${at}_${index}(S, q, k, v):  # one step\n    return S - np.outer(S @ k, k) * ${index}`).join('\n')}\n\`\`\``,
  (at) =>
    `| Context | Full, ms | State, ms | Note |\n|---|---:|---:|---|\n${Array.from({ length: 16 }, (_, row) => `| ${1024 * (row + 1)} | ${(row * 1.3 + at).toFixed(2)} | 0.19 | *row* ${row} |`).join('\n')}`,
  (at) => `> ${sentence(at)}\n>\n> - ${sentence(at + 1)}\n> - ${sentence(at + 2)}`,
  (at) =>
    Array.from({ length: 8 }, (_, index) => `- ${sentence(at + index)}\n  - nested ${sentence(index)}`).join('\n'),
];
