// How many requests a tool server over HTTP gets in a second.
import { expect, test } from 'vitest';
import { boundedFetch } from '../../../app/tools/mcp/bounded-fetch.ts';

test('of many requests at once the first twenty go, the others in the next second, unless they are taken back', async () => {
  const times: number[] = [];
  const asked = boundedFetch(
    async () => {
      times.push(performance.now());
      return new Response(null);
    },
    () => expect.unreachable('nothing was sent'),
  );
  const first = Array.from({ length: 20 }, () => asked('http://tools.example/'));
  const next = asked('http://tools.example/');
  const stopped = asked('http://tools.example/', { signal: AbortSignal.abort() });
  await Promise.all(first);
  expect(times).toHaveLength(20);
  await expect(stopped).rejects.toThrow('aborted');
  await next;
  expect(times).toHaveLength(21);
  // Timers may come a little early.
  expect((times[20] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
});
