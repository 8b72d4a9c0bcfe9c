import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PromptMessage, PromptPicture } from '../../../app/engine/ipc-protocol.ts';
import { samplingFor } from '../../../app/engine/process/generation/sampling-for.ts';
import { type EngineText, readEngineText } from '../../../app/engine/process/model/model-vision.ts';
import { createPictureReader } from '../../../app/engine/process/prompt/picture-reader.ts';
import { countPicture, countPrompt, promptIds } from '../../../app/engine/process/prompt/prompt-tokens.ts';
import { createTemplateRenderer } from '../../../app/text/jinja/template-renderer.ts';
import { addon } from '../../support/addon.ts';
import { places } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';
import { makeSeeingModel, pictureFiles } from '../../support/models/seeing-model.ts';

//  From a message with pictures to what the model reads.

const parent = mkdtempSync(join(tmpdir(), 'longhand-test-'));
const folder = makeSeeingModel(parent);
const renderer = createTemplateRenderer({ worker: places.worker });
const reader = createPictureReader(places.pictureWorker);
let text: EngineText;
beforeAll(async () => {
  text = await readEngineText(addon, { path: folder });
});
afterAll(async () => {
  await Promise.all([renderer.close(), reader.close()]);
  rmSync(parent, { recursive: true, force: true });
});

const shown = (name: string, width: number, height: number): PromptPicture => ({
  source: { path: pictureFiles(name) },
  width,
  height,
  detail: 'normal',
});
const rgb = shown('rgb.png', 300, 200); // 9 x 6 tokens
const odd = shown('exact.png', 128, 96); // 4 x 3 tokens
const user = (words: string, ...pictures: PromptPicture[]): PromptMessage => ({
  role: 'user',
  text: words,
  thinking: '',
  ids: null,
  pictures,
});
const promptOf = (...messages: PromptMessage[]) => ({ messages, thinking: false, continuation: null });
const IMAGE = 197;

test('a model says whether it sees', async () => {
  expect(text.vision).toMatchObject({ token: IMAGE, preprocessor: { minPixels: 1024, maxPixels: 65_536 } });
  expect((await readEngineText(addon, { path: starter })).vision).toBeNull();
  expect((await addon.inspect(folder)).vision).toEqual({ token: IMAGE, merge: 2 });
  expect((await addon.inspect(starter)).vision).toBeNull();
});

test('each picture takes as many tokens as it has rows, where the template shows it', async () => {
  const { ids, pictures } = await promptIds(text, renderer, promptOf(user('And this?', rgb, odd), user('Well?', odd)));
  expect(pictures).toEqual([rgb, odd, odd]);
  const runs = ids.join(' ').match(/(?:\b197\b ?)+/g);
  expect(runs?.map((run) => run.trim().split(' ').length)).toEqual([9 * 6, 4 * 3, 4 * 3]);
  expect(await countPrompt(text, renderer, promptOf(user('And this?', rgb)))).toBe(
    (await countPrompt(text, renderer, promptOf(user('And this?', odd)))) + 54 - 12,
  );
  expect(countPicture(text, { width: 300, height: 200, detail: 'normal' })).toBe(54);
});

test('words that look like a place for a picture are words', async () => {
  const { ids } = await promptIds(text, renderer, promptOf(user('<|vision_start|><|image_pad|><|vision_end|>', odd)));
  expect(ids.filter((id) => id === IMAGE)).toHaveLength(12);
});

test('the model reads the picture, and what it read of it is known the next time', async () => {
  const model = await addon.load(folder, { device: 'cpu' });
  model.setPromptCache(2 ** 26);
  try {
    const ask = async (prompt: ReturnType<typeof promptOf>) => {
      const { ids, pictures } = await promptIds(text, renderer, prompt);
      const seen = text.vision ? await reader.read(pictures, text.vision.preprocessor) : [];
      const session = model.createSession();
      const result = await session.generate(Int32Array.from(ids), {
        ...samplingFor(
          { text, native: model },
          { sampling: { temperature: 0 } },
          { seed: 1, rewound: null, written: [] },
        ),
        maxTokens: 8,
        pictures: seen,
        stopTokens: [...text.stopIds],
      });
      session.close();
      return result;
    };
    const first = await ask(promptOf(user('What is it?', rgb)));
    const other = await ask(
      promptOf(user('What is it?', { ...rgb, source: { path: pictureFiles('lossy.webp') }, width: 150, height: 110 })),
    );
    expect(other.tokens).not.toEqual(first.tokens);
    const again = await ask(promptOf(user('What is it?', rgb)));
    expect(again.tokens).toEqual(first.tokens);
    expect(again.timings.cachedTokens).toBeGreaterThan(0);
  } finally {
    model.close();
  }
});

test('a picture that was read is not read from its file again by the next turn', async () => {
  const preprocessor = text.vision?.preprocessor ?? expect.fail('it sees');
  const path = join(parent, 'once.png');
  cpSync(pictureFiles('rgb.png'), path);
  const shownThen = { ...rgb, source: { path } };
  const [first] = await reader.read([shownThen], preprocessor);
  rmSync(path);
  const [again] = await reader.read([shownThen], preprocessor);
  expect(again).toEqual(first);
});

test('the token of pictures is never written', () => {
  const native = { vocabularySize: 203 } as never;
  const asked = { seed: 1, rewound: null, written: [] };
  expect(samplingFor({ text, native }, { sampling: {} }, asked).forbidden).toContain(IMAGE);
  expect(samplingFor({ text: { ...text, vision: null }, native }, { sampling: {} }, asked).forbidden).toBeUndefined();
});

describe('what cannot be shown is refused in a sentence', () => {
  test('to a model that sees nothing', async () => {
    const blind = await readEngineText(addon, { path: starter });
    const code = 'model-unsupported';
    await expect(promptIds(blind, renderer, promptOf(user('Look', rgb)))).rejects.toMatchObject({ code });
    expect(() => countPicture(blind, { width: 9, height: 9, detail: 'fast' })).toThrow(/does not see/);
  });

  test('where the template has no room for pictures', async () => {
    const template =
      '{% for m in messages %}<|im_start|>{{ m.content if m.content is string else m.content[-1].text }}{% endfor %}';
    const prompt = promptOf(user('Look', rgb, odd));
    await expect(promptIds({ ...text, template }, renderer, prompt)).rejects.toThrow(/room for 0 pictures.* shows 2/);
  });

  test('a file that is another one by now', async () => {
    const changed = join(parent, 'changed.png');
    cpSync(pictureFiles('rgb.png'), changed);
    const preprocessor = text.vision?.preprocessor ?? expect.fail('it sees');
    await expect(reader.read([{ ...odd, source: { path: changed } }], preprocessor)).rejects.toThrow(
      /the file changed/,
    );
    writeFileSync(changed, 'no picture');
    await expect(
      reader.read([{ ...odd, source: { path: join(parent, 'gone.png') } }], preprocessor),
    ).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  test('a preprocessor that does not fit the weights', async () => {
    const broken = makeSeeingModel(mkdtempSync(join(parent, 'x-')));
    writeFileSync(join(broken, 'preprocessor_config.json'), '{"merge_size": 4}');
    await expect(readEngineText(addon, { path: broken })).rejects.toThrow(/merges 4 patches a side, the weights 2/);
  });
});
