// Models whose context takes less memory, on the real core, the real process and a real Llama that was never trained.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Client,
  failureOf,
  forecast,
  type ModelEntry,
  type ModelId,
  type Request,
  STARTER,
} from '../../../../app/protocol/index.ts';
import { golden } from '../../../support/addon.ts';
import { follow, inLibrary, killable, refusal, startedBy } from '../../../support/conversion/making.ts';
import { readingLlama } from '../../../support/conversion/reading-llama.ts';
import { answered } from '../../../support/core/cli.ts';
import { newFolder, startCore } from '../../../support/core/core.ts';
import { startElectronCore } from '../../../support/core/electron-core.ts';
import { source } from '../../../support/core/kills.ts';
import { named, until } from '../../../support/until.ts';

type Form = Request<'models.convert'>['form'];
const form: Form = { pairs: 2, rope: '2-norm', rank: 4, svd: 'regression' };

const imported = async (client: Client, path: string): Promise<ModelEntry> => client.call('models.import', { path });

test('the forecast is the plan of the engine; the model that is made keeps to it, and equals what the command line makes', {
  timeout: 120_000,
}, async () => {
  const { client, dataFolder } = await startCore();
  const original = await imported(client, await readingLlama(newFolder()));
  const plan = await client.call('models.latentPlan', { modelId: original.id });
  expect(plan).toMatchObject({ reads: true, allPairs: 8, contextBytesPerToken: 256 });
  expect(plan.sizes.length).toBeGreaterThan(5);
  for (const { pairs, rank, split, contextBytesPerToken } of plan.sizes) {
    // Two layers of two key-value heads in fp16: the rotary values, and a vector or two.
    expect(contextBytesPerToken).toBe(2 * 2 * 2 * (2 * pairs + (split ? 2 : 1) * rank));
    expect(contextBytesPerToken).toBeLessThan(256);
  }
  const size = plan.sizes.find(({ pairs, rank, split }) => pairs === 2 && rank === 4 && !split);
  expect(size?.contextBytesPerToken).toBe(64);

  const { states, ended } = follow(client);
  await client.call('models.convert', { modelId: original.id, form });
  const done = await ended();
  expect(done).toMatchObject({ status: 'done', modelId: original.id, name: `${original.name} latent` });
  const phases = states.flatMap((state) => (state?.status === 'running' ? [state.phase] : []));
  expect([...new Set(phases)]).toEqual(['preparing', 'calibrating', 'converting', 'measuring', 'checking']);

  const made = await named(client, `${original.name} latent`, ({ description }) => description !== null);
  const description = made.description;
  if (!description || !original.description || !size) throw new Error('nothing is known of it');
  expect(description).toMatchObject({
    container: 'safetensors',
    supported: true,
    layers: [{ kind: 'latent' }, { kind: 'latent' }],
  });
  const machine = { limitBytes: 1e9, bandwidth: null };
  const { weightBytes, activeBytes, contextBytesPerToken, memory } = size;
  const foretold = { ...original.description, weightBytes, activeBytes, contextBytesPerToken, memory };
  for (const contextLength of [512, 2048])
    expect(forecast(foretold, machine, { contextLength })).toEqual(forecast(description, machine, { contextLength }));

  const details = await client.call('models.details', { modelId: made.id });
  expect(details.ownership).toBe('made');
  expect(details.quality).toMatchObject({
    context: { bytes: 64, sourceBytes: 256 },
    calibration: '4096 tokens of the manual',
  });
  expect(details.quality?.measured?.nats).toBeGreaterThan(0);
  expect(done).toMatchObject({ quality: details.quality });
  await client.call('models.load', { modelId: made.id });
  await client.call('models.unload');
  expect(await client.call('models.verify', { modelId: made.id })).toMatchObject({ damaged: [] });

  const { command } = JSON.parse(readFileSync(join(made.path ?? '', 'quality.json'), 'utf8')) as { command: string };
  const folder = newFolder();
  const words = command.split(' ').slice(1);
  words[words.indexOf('--out') + 1] = 'b';
  await answered(folder, words);
  for (const name of ['model.safetensors', 'config.json'])
    expect(readFileSync(join(folder, 'b', name)).equals(readFileSync(join(made.path ?? '', name)))).toBe(true);

  await client.call('models.remove', { modelId: made.id });
  expect(inLibrary(dataFolder).filter((name) => !name.startsWith('removed'))).toEqual([]);
});

describe('nothing is left', () => {
  /** Slow enough to be met in the middle. */
  const large = () => readingLlama(newFolder(), { hidden: 512, layers: 6 });
  const started = async (...options: Parameters<typeof startCore>) => {
    const core = await startCore(...options);
    const { id: modelId } = await imported(core.client, await large());
    const nothing = async () => {
      expect(inLibrary(core.dataFolder)).toEqual([]);
      expect(await core.client.call('models.list')).toHaveLength(2);
    };
    return { ...core, modelId, nothing, ...follow(core.client) };
  };
  const wish: Form = { pairs: 16, rope: '2-norm', rank: 64, svd: 'whitened' };

  test('when it is cancelled, in every phase; meanwhile nothing else is made', { timeout: 120_000 }, async () => {
    const { client, modelId, nothing, reached, states } = await started();
    for (const phase of ['preparing', 'calibrating', 'converting', 'measuring']) {
      const begun = client.call('models.convert', { modelId, form: wish }).catch(failureOf);
      await reached(phase);
      const other = client.call('models.shrink', {
        modelId: STARTER,
        form: { format: 'mlx', bits: 4, group: 64 },
        method: 'rtn',
        again: false,
      });
      expect(await refusal(other)).toEqual({ code: 'conflict', reason: 'shrink-busy' });
      await client.call('models.cancelShrink');
      expect(states.at(-1)).toBeNull();
      await begun;
      await nothing();
    }
  });

  test('when its process is killed', { timeout: 60_000 }, async () => {
    const { startConverter, kill } = killable();
    const { client, modelId, nothing, reached, ended } = await started({ models: { startConverter } });
    await client.call('models.convert', { modelId, form: wish });
    await reached('converting');
    kill();
    expect(await ended()).toMatchObject({ status: 'failed', failure: { details: { reason: 'shrink-lost' } } });
    await nothing();
  });

  test('when the disk is full in the middle of a file', { timeout: 60_000 }, async () => {
    const full = startedBy("trap '' XFSZ; ulimit -f 4000");
    const { client, modelId, nothing, ended } = await started({ models: { startConverter: full } });
    await client.call('models.convert', { modelId, form: { ...wish, rope: 'high', svd: 'joint' } });
    expect(await ended()).toMatchObject({ status: 'failed', failure: { code: 'disk-full' } });
    await nothing();
  });

  test('when the app is killed, after its next start', { timeout: 120_000 }, async () => {
    const dataFolder = newFolder();
    const app = await startElectronCore(dataFolder, source);
    const { id: modelId } = await imported(app.client, await large());
    const { reached } = follow(app.client);
    await app.client.call('models.convert', { modelId, form: wish });
    await reached('converting');
    await app.kill();
    const again = await startElectronCore(dataFolder, source);
    await until(
      async () => inLibrary(dataFolder),
      (names) => names.length === 0,
    );
    await again.kill();
  });
});

describe('is refused, and says why', () => {
  const whyNot = async (client: Client, modelId: ModelId, asked: Form = form) => {
    const planned = await refusal(client.call('models.latentPlan', { modelId }));
    const made = await refusal(client.call('models.convert', { modelId, form: asked }));
    expect(await client.call('models.shrinking')).toBeNull();
    return [planned.reason, made.reason];
  };

  test('what is no Llama, no folder, converted before, or quantised', { timeout: 120_000 }, async () => {
    const { client } = await startCore();
    expect(await whyNot(client, STARTER)).toEqual(['latent-family', 'latent-family']);
    const gguf = await imported(client, join(golden, 'gguf_models/llama/model-f32.gguf'));
    expect(await whyNot(client, gguf.id)).toEqual(['latent-file', 'latent-file']);
    const latent = await imported(client, join(golden, 'mha2mla/high_r2_split_rank8'));
    expect(await whyNot(client, latent.id)).toEqual(['latent-already', 'latent-already']);
    const { ended } = follow(client);
    const { id, name } = await imported(client, await readingLlama(newFolder()));
    await client.call('models.shrink', {
      modelId: id,
      form: { format: 'mlx', bits: 4, group: 32 },
      method: 'rtn',
      again: false,
    });
    await ended();
    const rounded = await named(client, `${name} 4-bit`, ({ description }) => description !== null);
    await client.call('models.cancelShrink');
    expect(await whyNot(client, rounded.id)).toEqual(['latent-rounded', 'latent-rounded']);
  });

  test('what would keep as much as now, and ranks that do not exist; without a tokenizer no text is offered', {
    timeout: 60_000,
  }, async () => {
    const { client, dataFolder } = await startCore();
    const { id: modelId } = await imported(client, await readingLlama(newFolder()));
    const all = { pairs: 8, rope: 'high', rank: 16, svd: 'joint' } as const;
    expect(await refusal(client.call('models.convert', { modelId, form: all }))).toEqual({
      code: 'bad-request',
      reason: 'latent-no-smaller',
    });
    const many = client.call('models.convert', { modelId, form: { ...all, rank: 40 } });
    expect((await refusal(many)).code).toBe('bad-request');
    const base = await imported(client, join(golden, 'mha2mla/base'));
    expect(await client.call('models.latentPlan', { modelId: base.id })).toMatchObject({ reads: false });
    expect((await refusal(client.call('models.convert', { modelId: base.id, form }))).code).toBe('bad-request');
    expect(readdirSync(join(dataFolder, 'models'))).toEqual([]);
  });
});
