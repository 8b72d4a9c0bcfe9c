// What `longhand quantize` and `longhand convert` print when they are done.
import { expect, test } from 'vitest';
import { linesOf } from '../../../../../app/cli/commands/conversion/card-lines.ts';
import type { Card } from '../../../../../app/conversion/making/quality-card.ts';

const card = (more: object) =>
  linesOf({ out: '/models/small', bytes: 5e9, source_bytes: 16e9, seconds: 12.345, ...more } as Card);

test('where the result is, how much smaller, in what time, and why nothing was measured', () => {
  expect(card({ quality: { skipped: 'as asked' } })).toEqual([
    '/models/small',
    '5 GB, 31 % of 16 GB, in 12.3 s',
    'quality loss not measured: as asked',
  ]);
  const half = card({ quality: { skipped: 'as asked' }, cache_bytes_per_token: 100 });
  expect(half).toHaveLength(3);
});

test('what was measured, and what a token takes in the context', () => {
  const quality = {
    verdict: 'close',
    kld: 0.0123456,
    same_top: 0.987,
    perplexity: 4.56789,
    reference_perplexity: 3,
    tokens: 1024,
    text: 'the manual',
  };
  expect(card({ quality, cache_bytes_per_token: 3000, source_cache_bytes_per_token: 12_000 }).slice(2)).toEqual([
    'context memory per token: 3 kB, 25 % of 12 kB',
    'close: divergence (KLD) 0.01235 nats per token, same top token 98.7 %',
    'perplexity 4.568, original 3.000, over 1024 tokens of the manual',
  ]);
});
