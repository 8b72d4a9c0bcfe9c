import type { Card } from '../../../conversion/making/quality-card.ts';
import { bytes } from '../../runtime/terminal.ts';

export function linesOf(card: Card): string[] {
  const { quality } = card;
  const share = ((100 * card.bytes) / card.source_bytes).toFixed(0);
  return [
    `${card.out}`,
    `${bytes(card.bytes)}, ${share} % of ${bytes(card.source_bytes)}, in ${Number(card.seconds.toFixed(1))} s`,
    ...(card.cache_bytes_per_token !== undefined && card.source_cache_bytes_per_token !== undefined
      ? [
          `context memory per token: ${bytes(card.cache_bytes_per_token)}, ${((100 * card.cache_bytes_per_token) / card.source_cache_bytes_per_token).toFixed(0)} % of ${bytes(card.source_cache_bytes_per_token)}`,
        ]
      : []),
    ...('skipped' in quality
      ? [`quality loss not measured: ${quality.skipped}`]
      : [
          `${quality.verdict}: divergence (KLD) ${quality.kld.toFixed(5)} nats per token, same top token ${(100 * quality.same_top).toFixed(1)} %`,
          `perplexity ${quality.perplexity.toFixed(3)}, original ${quality.reference_perplexity.toFixed(3)}, over ${quality.tokens} tokens of ${quality.text}`,
        ]),
  ];
}
