// Smaller versions of models on the real core, the real process and the built-in model.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Client,
  failureOf,
  type ModelEntry,
  type ModelId,
  type Request,
  STARTER,
} from '../../../../app/protocol/index.ts';
import { follow, inLibrary, killable, models, refusal, startedBy } from '../../../support/conversion/making.ts';
import { listen, newFolder, places, readMessage, startCore } from '../../../support/core/core.ts';
import { startElectronCore } from '../../../support/core/electron-core.ts';
import { source } from '../../../support/core/kills.ts';
import { isRoot, nobody } from '../../../support/second-user.ts';
import { named, until } from '../../../support/until.ts';

const mlx = { format: 'mlx', bits: 4, group: 64 } as const;
const gguf = { format: 'gguf', type: 'Q4_K' } as const;
const asked = (change: Partial<Request<'models.shrink'>> = {}) => ({
  modelId: STARTER,
  form: mlx,
  method: 'weighted' as const,
  again: false,
  ...change,
});
async function answerOf(client: Client, modelId: ModelId): Promise<string> {
  const { end } = listen(client);
  const { id: chatId } = await client.call('chats.create', { modelId });
  const { messageId, turnId } = await client.call('turns.send', { chatId, text: 'Hello! Who are you?' });
  await end(turnId);
  return (await readMessage(client, chatId, messageId)).text;
}

describe('a smaller version', () => {
  test('is forecast, made, listed with its card, answers, and is deleted with its files', {
    timeout: 120_000,
  }, async () => {
    const { client, dataFolder } = await startCore();
    const plan = await client.call('models.shrinkPlan', { modelId: STARTER });
    expect(plan).toMatchObject({ quantised: false, reads: true });
    const size = (form: object) =>
      plan.sizes.find((one) => JSON.stringify(one.form) === JSON.stringify(form))?.bytes ?? 0;
    expect(size({ format: 'mlx', bits: 2, group: 64 })).toBeLessThan(size(mlx));
    expect(size(mlx)).toBeLessThan(plan.bytes / 2);
    expect(plan.free).toBeGreaterThan(0);

    const { states, ended } = follow(client);
    await client.call('models.shrink', asked());
    expect(await client.call('models.shrinking')).toMatchObject({ status: 'running', name: 'Starter 4-bit' });
    expect(await ended()).toMatchObject({ status: 'done', modelId: STARTER });
    const phases = states.flatMap((state) => (state?.status === 'running' ? [state.phase] : []));
    expect([...new Set(phases)]).toEqual(['preparing', 'calibrating', 'writing', 'measuring', 'checking']);

    const made = await named(client, 'Starter 4-bit', ({ description }) => description !== null);
    expect(made.description).toMatchObject({ container: 'mlx', supported: true });
    expect(Math.abs((made.description?.weightBytes ?? 0) - size(mlx))).toBeLessThan(0.02 * size(mlx));
    const details = await client.call('models.details', { modelId: made.id });
    expect(details).toMatchObject({ ownership: 'made', origin: { source: 'made', repository: 'Starter' } });
    expect(details.frees).toBeGreaterThan(made.description?.weightBytes ?? 0);
    const { quality } = details;
    expect(quality).toMatchObject({ method: 'weighted', format: 'mlx', calibration: '4096 tokens of the manual' });
    expect(quality?.measured?.nats).toBeGreaterThan(0);
    expect(quality?.measured?.nats).toBeLessThan(0.3);
    expect(quality?.measured?.sameTop).toBeGreaterThan(0.6);
    expect(await answerOf(client, made.id)).not.toBe('');
    expect(await client.call('models.verify', { modelId: made.id })).toMatchObject({ damaged: [] });

    const card = JSON.parse(readFileSync(join(made.path ?? '', 'quality.json'), 'utf8'));
    expect(card).toMatchObject({ out: made.path, command: expect.stringContaining(`--out ${made.path} --bits 4`) });

    // Nobody else has its files: a damaged one stays as it is.
    const config = join(made.path ?? '', 'config.json');
    const before = readFileSync(config);
    writeFileSync(config, `${before} `);
    expect(await client.call('models.verify', { modelId: made.id })).toMatchObject({ damaged: ['config.json'] });
    const repair = { code: 'bad-request', reason: 'made-here' };
    expect(await refusal(client.call('models.repair', { modelId: made.id }))).toEqual(repair);
    writeFileSync(config, before);

    const { freed } = await client.call('models.remove', { modelId: made.id });
    expect(freed).toBe(details.frees);
    await client.call('models.restore', { modelId: made.id });
    expect(await models(client)).toContain('Starter 4-bit');
    expect(await client.call('models.details', { modelId: made.id })).toMatchObject({ quality });
    await client.call('models.remove', { modelId: made.id });
    expect(inLibrary(dataFolder).filter((name) => !name.startsWith('removed'))).toEqual([]);
  });

  test('for other programs is one file with its card beside it; of that another is refused until it is said, because the loss adds up', {
    timeout: 120_000,
  }, async () => {
    const { client, dataFolder } = await startCore();
    const first = follow(client);
    await client.call('models.shrink', asked({ form: { ...gguf, type: 'Q8_0' }, method: 'rtn' }));
    expect(await first.ended()).toMatchObject({ status: 'done', name: 'Starter Q8_0' });
    const { id, path } = await named(client, 'Starter Q8_0', ({ description }) => description?.container === 'gguf');
    expect(path).toMatch(/Starter-Q8_0@made-[0-9a-f]{8}\/Starter-Q8_0\.gguf$/);
    expect(inLibrary(dataFolder).filter((name) => name.endsWith('Starter-Q8_0.quality.json'))).toHaveLength(1);
    expect((await client.call('models.details', { modelId: id })).quality?.format).toBe('gguf:Q8_0');

    expect(await client.call('models.shrinkPlan', { modelId: id })).toMatchObject({ quantised: true });
    const twice = asked({ modelId: id, form: gguf, method: 'rtn' });
    expect(await refusal(client.call('models.shrink', twice))).toEqual({
      code: 'conflict',
      reason: 'shrink-quantised',
    });
    const larger = asked({ modelId: id, form: { ...gguf, type: 'Q8_0' }, method: 'rtn', again: true });
    expect(await refusal(client.call('models.shrink', larger))).toEqual({
      code: 'bad-request',
      reason: 'shrink-no-smaller',
    });
    const second = follow(client);
    await client.call('models.shrink', { ...twice, again: true });
    expect(await second.ended()).toMatchObject({ status: 'done', name: 'Starter Q4_K' });
  });
});

describe('nothing is left', () => {
  const nothing = async (client: Client, dataFolder: string) => {
    expect(inLibrary(dataFolder)).toEqual([]);
    expect(await models(client)).toEqual(['Starter']);
  };

  test('when it is cancelled, in every phase; meanwhile a second one and a move are refused', {
    timeout: 120_000,
  }, async () => {
    const { client, dataFolder } = await startCore();
    for (const phase of ['preparing', 'calibrating', 'writing', 'measuring']) {
      const { reached, states } = follow(client);
      const begun = client.call('models.shrink', asked({ form: { ...mlx, bits: 8 } })).catch(failureOf);
      await reached(phase);
      expect(await refusal(client.call('models.shrink', asked()))).toEqual({ code: 'conflict', reason: 'shrink-busy' });
      expect(await refusal(client.call('library.move', { folder: newFolder() }))).toEqual({
        code: 'conflict',
        reason: 'shrink-busy',
      });
      await client.call('models.cancelShrink');
      expect(states.at(-1)).toBeNull();
      expect(await begun).toEqual(phase === 'preparing' ? expect.objectContaining({ code: 'cancelled' }) : undefined);
      await nothing(client, dataFolder);
    }
  });

  test('when its process is killed, which is told in a sentence of its own and put away', {
    timeout: 60_000,
  }, async () => {
    const { startConverter, kill } = killable();
    const { client, dataFolder } = await startCore({ models: { startConverter } });
    const { reached, ended } = follow(client);
    await client.call('models.shrink', asked({ method: 'hqq' }));
    await reached('writing');
    kill();
    expect(await ended()).toMatchObject({ status: 'failed', failure: { details: { reason: 'shrink-lost' } } });
    await nothing(client, dataFolder);
    await client.call('models.cancelShrink');
    expect(await client.call('models.shrinking')).toBeNull();
  });

  test('when the disk is full in the middle of a file', { timeout: 60_000 }, async () => {
    const full = startedBy("trap '' XFSZ; ulimit -f 2000");
    const { client, dataFolder } = await startCore({ models: { startConverter: full } });
    const { ended } = follow(client);
    await client.call('models.shrink', asked({ method: 'rtn' }));
    expect(await ended()).toMatchObject({ status: 'failed', failure: { code: 'disk-full' } });
    await nothing(client, dataFolder);
  });

  test('when the folder cannot be written', { timeout: 60_000 }, async () => {
    const dataFolder = newFolder();
    const library = join(dataFolder, 'models');
    mkdirSync(library);
    // To root everything is open, so its process becomes another user.
    const stranger = startedBy('true', isRoot ? { uid: nobody } : {});
    const { client } = await startCore({ dataFolder, models: { startConverter: stranger } });
    chmodSync(dataFolder, 0o755);
    chmodSync(library, 0o555);
    const { ended } = follow(client);
    await client.call('models.shrink', asked({ method: 'rtn' }));
    expect(await ended()).toMatchObject({ status: 'failed', failure: { code: 'permission' } });
    chmodSync(library, 0o755);
    await nothing(client, dataFolder);
  });

  test('when the app is closed in the middle', { timeout: 60_000 }, async () => {
    const { client, host, dataFolder } = await startCore();
    const { reached } = follow(client);
    await client.call('models.shrink', asked({ method: 'hqq' }));
    await reached('writing');
    expect(inLibrary(dataFolder)).not.toEqual([]);
    await host.close();
    expect(inLibrary(dataFolder)).toEqual([]);
  });
});

test('an app that was killed in the middle leaves a part, which its next start removes', {
  timeout: 120_000,
}, async () => {
  const dataFolder = newFolder();
  const app = await startElectronCore(dataFolder, source);
  const { reached } = follow(app.client);
  await app.client.call('models.shrink', asked({ method: 'hqq' }));
  await reached('writing');
  await app.kill();
  expect(inLibrary(dataFolder)).not.toEqual([]);
  const again = await startElectronCore(dataFolder, source);
  onTestFinished(() => again.kill());
  await until(
    async () => inLibrary(dataFolder),
    (names) => names.length === 0,
  );
  expect(await again.client.call('models.shrinking')).toBeNull();
});

test('the next start removes what a killed app left, lists what was whole, and touches nothing else', {
  timeout: 60_000,
}, async () => {
  const dataFolder = newFolder();
  const library = join(dataFolder, 'models');
  const inside = (name: string) => join(library, name);
  const rests = ['A@made-0123abcd.new.4194305.part', 'B@made-89abcdef.new'];
  const foreign = ['D@made-by-hand', 'E@made-89abcdef', 'mine'];
  for (const name of [...rests, 'C@made-00000000', ...foreign]) mkdirSync(inside(name), { recursive: true });
  writeFileSync(join(inside('A@made-0123abcd.new.4194305.part'), 'model.safetensors'), 'half');
  cpSync(join(places.resources, 'starter-model'), inside('C@made-00000000'), { recursive: true });
  const files = [{ name: 'model.safetensors', size: 1, sha256: 'a'.repeat(64) }];
  const manifest = { name: 'Starter 8-bit', source: 'made', repository: 'Starter', commit: '', files, checkedAt: 0 };
  writeFileSync(join(inside('C@made-00000000'), '.longhand.json'), JSON.stringify(manifest));
  const { client, host } = await startCore({ dataFolder });
  await named(client, 'Starter 8-bit', ({ path }) => path === inside('C@made-00000000'));
  expect(readdirSync(library).sort()).toEqual(['C@made-00000000', ...foreign]);
  await host.close();
  const again = await startCore({ dataFolder });
  await until(
    () => models(again.client),
    (names) => names.length >= 2,
  );
  expect((await models(again.client)).sort()).toEqual(['Starter', 'Starter 8-bit']);
  // It moves with the library, which is all that is moved.
  const elsewhere = newFolder();
  await again.client.call('library.move', { folder: elsewhere });
  const moved = join(elsewhere, 'C@made-00000000');
  await named(again.client, 'Starter 8-bit', ({ path, missing }) => path === moved && !missing);
  await until(
    () => again.client.call('library.state'),
    ({ move }) => move === null,
  );
  expect(readdirSync(library).sort()).toEqual(foreign);
});

describe('is refused', () => {
  test('what only reads, in a sentence; a method that does not go with a form', { timeout: 60_000 }, async () => {
    const { client } = await startCore();
    const reader = await client.call('models.import', { path: join(places.resources, 'encoder') });
    const reads = { code: 'model-unsupported', reason: 'shrink-reads-only' };
    expect(await refusal(client.call('models.shrinkPlan', { modelId: reader.id }))).toEqual(reads);
    expect(await refusal(client.call('models.shrink', asked({ modelId: reader.id })))).toEqual(reads);
    const mixed = client.call('models.shrink', asked({ form: gguf, method: 'mixed' }));
    expect(await refusal(mixed)).toMatchObject({ code: 'bad-request' });
    expect(await client.call('models.shrinking')).toBeNull();
  });

  test('a model whose files are gone', { timeout: 60_000 }, async () => {
    const { client, dataFolder } = await startCore();
    const elsewhere = join(dataFolder, 'elsewhere');
    cpSync(join(places.resources, 'starter-model'), elsewhere, { recursive: true });
    const { id }: ModelEntry = await client.call('models.import', { path: elsewhere });
    writeFileSync(join(elsewhere, 'config.json'), '{}');
    expect((await refusal(client.call('models.shrinkPlan', { modelId: id }))).code).toMatch(/^model-/);
    expect((await refusal(client.call('models.shrink', asked({ modelId: id })))).code).toMatch(/^model-/);
  });
});

test('a card that the command line wrote is shown too; one that is none is not', { timeout: 60_000 }, async () => {
  const { client, dataFolder } = await startCore();
  const folder = join(dataFolder, 'by-hand');
  cpSync(join(places.resources, 'starter-model'), folder, { recursive: true });
  const card = {
    method: 'hqq\u202e',
    format: 'mlx',
    bytes: 5e6,
    source_bytes: 18e6,
    seconds: 3,
    calibration: null,
    quality: { kld: null, same_top: 0.5, perplexity: 30, reference_perplexity: 25, tokens: 1022, verdict: 'broken' },
  };
  writeFileSync(join(folder, 'quality.json'), JSON.stringify(card));
  const { id } = await client.call('models.import', { path: folder });
  const { quality } = await client.call('models.details', { modelId: id });
  expect(quality).toMatchObject({ sourceBytes: 18e6, measured: { nats: null, sameTop: 0.5, originalPerplexity: 25 } });
  expect(quality?.method).not.toContain('\u202e');
  for (const text of ['{}', 'x', JSON.stringify({ ...card, bytes: 'many' }), ' '.repeat(2 ** 21)]) {
    writeFileSync(join(folder, 'quality.json'), text);
    expect((await client.call('models.details', { modelId: id })).quality).toBeNull();
  }
  expect(existsSync(join(folder, 'quality.json'))).toBe(true);
  expect(readFileSync(join(folder, 'config.json')).length).toBeGreaterThan(0);
});
