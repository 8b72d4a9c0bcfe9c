import type { McpConfig } from '../../app/protocol/index.ts';

/** A command line cut at its spaces; quotes of either kind keep them. Null when a quote is not closed. */
export function wordsOf(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (const sign of line.trim()) {
    if (quote !== '') {
      if (sign === quote) quote = '';
      else word += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word ??= '';
    } else if (/\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + sign;
  }
  if (quote !== '') return null;
  return word === null ? words : [...words, word];
}

/** Lines of `NAME=value` (`Name: value` for an address). Null where a line is neither. */
export function secretsIn(text: string): Record<string, string> | null {
  const secrets: Record<string, string> = {};
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name, value] = /^\s*([\w.-]+)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return null;
    secrets[name] = value;
  }
  return secrets;
}

/** What was typed as a command line or an address; null where it is neither. */
export function configOf(target: string, secretLines: string): McpConfig | null {
  const secrets = secretsIn(secretLines);
  const words = wordsOf(target);
  if (!secrets || !words) return null;
  const [command, ...args] = words;
  if (command === undefined) return null;
  if (/^https?:\/\//i.test(command)) return URL.canParse(command) ? { url: command, headers: secrets } : null;
  return { command, args, env: secrets };
}
