import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { longhand } from '../../support/core/cli.ts';
import { newFolder } from '../../support/core/core.ts';
import { makeSeeingGguf, makeSeeingModel, pictureFiles } from '../../support/models/seeing-model.ts';

//  longhand generate --image, with a model that sees.

describe('pictures before a prompt', () => {
  const folder = { path: '', model: '' };
  const generate = (...more: string[]) =>
    longhand(folder.path, [
      'generate',
      ...['--model', folder.model, '--prompt', 'What is it?', '--max-tokens', '6', '--temperature', '0', '--json'],
      ...more,
    ]);

  test('are seen, one after the other, and decide the answer', async () => {
    folder.path = newFolder();
    folder.model = makeSeeingModel(folder.path);
    const asked = async (...names: string[]) => {
      const { code, out, err } = await generate(...names.flatMap((name) => ['--image', pictureFiles(name)]));
      expect([code, err]).toEqual([0, '']);
      return JSON.parse(out) as { text: string; tokens: number[]; prompt_tokens: number };
    };
    const [none, one, other, both] = [
      await asked(),
      await asked('rgb.png'),
      await asked('exact.png'),
      await asked('rgb.png', 'exact.png'),
    ];
    // 9 x 6 and 4 x 3 tokens, and two marks around each.
    expect(one.prompt_tokens - none.prompt_tokens).toBe(54 + 2);
    expect(other.prompt_tokens - none.prompt_tokens).toBe(12 + 2);
    expect(both.prompt_tokens - none.prompt_tokens).toBe(54 + 12 + 4);
    expect(one.tokens).not.toEqual(none.tokens);
    expect(one.tokens).not.toEqual(other.tokens);
    // The same weights from a GGUF file, its tower beside it or named.
    const gguf = makeSeeingGguf(folder.path);
    const tower = join(folder.path, 'tower.gguf');
    const shown = ({ tokens, prompt_tokens }: typeof one) => ({ tokens, prompt_tokens });
    const fromGguf = async (name: string, ...more: string[]) => {
      const { out } = await generate('--model', gguf, '--image', pictureFiles(name), ...more);
      const { tokens, prompt_tokens } = JSON.parse(out);
      return { tokens, prompt_tokens };
    };
    // One that has to be shrunk: the tower's file says how far.
    expect(await fromGguf('huge.jpg')).toEqual(shown(await asked('huge.jpg')));
    renameSync(join(dirname(gguf), 'mmproj-F32.gguf'), tower);
    expect(await fromGguf('rgb.png', '--vision', tower)).toEqual(shown(one));
    const fast = await generate('--image', pictureFiles('rgb.png'), '--detail', 'fast');
    expect(JSON.parse(fast.out).tokens).toEqual(one.tokens);

    writeFileSync(join(folder.path, 'broken.png'), 'no picture');
    const refused = async (...more: string[]) => (await generate(...more)).err + (await generate(...more)).out;
    expect(await refused('--image', 'broken.png')).toMatch(/unreadable/);
    expect(await refused('--image', 'gone.png')).toMatch(/not-found/);
    expect(await refused('--image', pictureFiles('rgb.png'), '--raw')).toMatch(/--image goes with --prompt/);
    expect(await refused('--image', pictureFiles('rgb.png'), '--detail', 'sharp')).toMatch(/fast or normal or fine/);
  });

  test('a model that sees nothing says so', async () => {
    const { code, out, err } = await longhand(newFolder(), [
      'generate',
      ...['--model', 'starter', '--prompt', 'What is it?', '--image', pictureFiles('rgb.png'), '--json'],
    ]);
    expect(code).not.toBe(0);
    expect(out + err).toMatch(/model-unsupported/);
  });
});
