// Host programs with one mistake against the Metal API each (test/metal/standin/mistakes).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needsStandin, standin } from '../standin.ts';

needsStandin();

const noticed: Record<string, RegExp> = {
  'missing barrier, read after write': /missing barrier between 'twice' and 'fill'/,
  'missing barrier, write after read': /missing barrier between 'fill' and 'twice'/,
  'missing barrier, write after write': /missing barrier between 'fill' and 'fill'/,
  'offset leaves too little room': /out of bounds of 'y'/,
  'offset beyond the buffer': /offset 512 is not below the length 256/,
  'offset not aligned': /offset 6 is not a multiple of 4/,
  'unbound buffer': /\[\[buffer\(0\)\]\] is not bound/,
  'short constant': /'p' needs 8 bytes, 4 are bound/,
  'setBytes over 4 KB': /setBytes takes 1 to 4096 bytes, 5000 were given/,
  'dispatch without a pipeline': /without a pipeline/,
  'empty grid': /empty dispatch/,
  'threadgroup too large for the device': /2048 threads, the pipeline's limit is 1024/,
  'threadgroup too large for what was said': /512 threads, the pipeline's limit is 384/,
  'a pipeline for too many threads': /more threads than a threadgroup can have/,
  'freed while it is resident': /freed while it was in the residency set/,
  'threadgroup too large for the pipeline': /128 threads, the pipeline's limit is 64/,
  'threadgroup memory not set': /has no threadgroup memory length/,
  'threadgroup memory over 32 KB': /exceeds 32 KiB/,
  'threadgroup memory too short': /out-of-bounds access to threadgroup memory/,
  'encoder used after its end': /after endEncoding/,
  'commit with an open encoder': /open encoder/,
  'commit twice': /committed twice/,
  'two encoders at once': /still open/,
  'wait before commit': /before commit/,
  'buffer freed too early': /multiples of the page size/,
  'early reuse of heap memory': /missing barrier between 'fill' and 'twice'/,
  'buffer beyond its heap': /256 bytes at 1024 ends outside a heap of 1024/,
  'heap offset not aligned': /heap offset 100 is not a multiple of 256/,
  'offset in a heap that places by itself': /an offset needs a heap of type placement/,
  'a placed buffer in a residency set': /is resident with its heap/,
  'taken out of a residency set twice': /not in the residency set/,
  'a fence that nothing updates': /waits for a fence that no encoder before it updates/,
  'a fence updated and waited for by one encoder': /waits for a fence it has updated itself/,
  'an event that nothing signals': /nothing signals the event's value 1/,
  'an event signalled backwards': /signalled with 4, it is at 5/,
  'an event signalled inside an encoder': /signalled with an open encoder/,
  'samples read too early': /read before their command buffer is done/,
  'a sample outside its buffer': /sample 2 of a buffer of 2/,
  'a sample taken twice': /sample 1 is taken twice/,
  'a sample inside an encoder': /samples between encoders only/,
  'more samples than a buffer can have': /5000 samples, 1 to 4096 are possible/,
  'function constant of another type': /function constant 'loud' has type bool/,
  'blit outside a buffer': /copy outside a buffer/,
};

describe('a host mistake', () => {
  beforeAll(() => standin.options({ check: true }));
  afterAll(() => standin.options({}));

  test.each([
    'none',
    'heap memory reused after a barrier',
    'fence between two encoders',
    'event between two queues',
    'samples around an encoder',
  ])('a correct program raises nothing: %s', (name) => {
    expect(standin.mistake(name)).toBe('');
  });
  test.for(Object.keys(noticed))('%s is noticed', (name) => {
    expect(standin.mistake(name)).toMatch(noticed[name] as RegExp);
  });
});
