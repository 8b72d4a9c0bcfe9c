import type { Figure, QualityResult, ResultOf } from '../../../protocol/index.ts';

const number = (value: number | null): number => value ?? Number.NaN;

const shown = ({ value, low, high }: Figure, digits = 3): string =>
  low === null || high === null
    ? number(value).toFixed(digits)
    : `${number(value).toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;

const percent = ({ value, low, high }: Figure): string =>
  `${(100 * number(value)).toFixed(1)} % (${(100 * number(low)).toFixed(1)} to ${(100 * number(high)).toFixed(1)})`;

/** A result as human-readable lines. */
export function linesOf(result: QualityResult): string[] {
  switch (result.kind) {
    case 'perplexity':
      return [`perplexity ${shown(result.perplexity)} over ${result.tokens} tokens`];
    case 'divergence':
      return [
        `divergence (KLD) ${shown(result.kld, 5)} nats per token; worst 1 % above ${number(result.kld99).toFixed(4)}`,
        `same top token ${percent(result.sameTop)}`,
        `perplexity ${shown(result.perplexity)}, reference ${shown(result.referencePerplexity)}`,
        `over ${result.tokens} tokens, compared with ${result.reference}`,
      ];
    case 'choices':
      return [
        `right ${percent(result.accuracy)}, length-normalised ${percent(result.normalised)}, of ${result.questions} questions`,
      ];
    case 'reading':
      return [
        `${result.metric} ${percent(result.score)} over ${result.questions} ${result.questions === 1 ? 'question' : 'questions'}`,
        ...(result.shortened > 0
          ? [
              `${result.shortened} ${result.shortened === 1 ? 'text was' : 'texts were'} too long: the middle was left out`,
            ]
          : []),
      ];
    case 'needle':
      return needleLines(result);
    case 'reasoning':
      return [
        ['problems', 'of', 'right', 'answered', 'looped'].join('\t'),
        ...result.kinds.map((row) => [row.kind, row.problems, row.right, row.answered, row.looped].join('\t')),
        `right ${percent(result.right)}, answered ${percent(result.answered)}, looped ${percent(result.looped)}`,
      ];
  }
}

function needleLines({ texts, found }: ResultOf<'needle'>): string[] {
  const lengths = [...new Set(texts.map(({ length }) => length))];
  const depths = [...new Set(texts.map(({ depth }) => depth))];
  const cell = (length: number, depth: number) =>
    texts.find((text) => text.length === length && text.depth === depth)?.found ? 'found' : '–';
  return [
    ['tokens', ...depths.map((depth) => `${depth} %`)].join('\t'),
    ...lengths.map((length) => [String(length), ...depths.map((depth) => cell(length, depth))].join('\t')),
    `found ${percent(found)}`,
  ];
}
