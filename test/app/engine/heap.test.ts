import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../../../app/engine/client/engine-client.ts';
import { places, realEngine } from '../../support/core/core.ts';
import { anonymousBytes } from '../../support/processes.ts';

//  What V8 takes for itself in the engine process while many ask at once: 26 MB here. Left alone it takes 140 and more, and swings by as
//  much in an hour of sixteen clients (app/server/api/soak.test.ts).

const AT_ONCE = 16;
const TEXTS = 128;
const MOST_BYTES = 60 * 2 ** 20;

test.skipIf(platform() !== 'linux')(
  'long texts that many count at once leave the engine process as small',
  async () => {
    const engine = createEngine({ startEngine: realEngine(), onStatus: () => {} });
    onTestFinished(() => engine.close());
    const model = { path: join(places.resources, 'starter-model'), template: null };
    const count = (text: string) => engine.ask('countText', { model, text });
    const text = 'A sentence with a few words. '.repeat(3000);
    // It has read the tokenizer.
    await count('Hello');
    const pid = Number(
      readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ').at(-1),
    );
    const before = anonymousBytes(pid);
    let left = TEXTS;
    const client = async () => {
      while (left-- > 0) expect(await count(text)).toBeGreaterThan(18_000);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    expect(anonymousBytes(pid) - before).toBeLessThan(MOST_BYTES);
  },
  60_000,
);
