// Tests of what a model is worth, on the real core, the real process and the built-in model.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { converterByFork } from '../../../../app/conversion/process/fork-converter.ts';
import type { FromConverter, StartConverter, ToConverter } from '../../../../app/conversion/process/messages.ts';
import {
  type Client,
  type ModelId,
  type QualityRun,
  type QualityTest,
  type ResultOf,
  STARTER,
} from '../../../../app/protocol/index.ts';
import { killable, refusal } from '../../../support/conversion/making.ts';
import { readingLlama } from '../../../support/conversion/reading-llama.ts';
import { connect, listen, newFolder, places, startCore } from '../../../support/core/core.ts';
import { starter } from '../../../support/models/models.ts';
import { until } from '../../../support/until.ts';

const onManual = { kind: 'perplexity', text: { source: 'manual' }, limit: 1024 } satisfies QualityTest;
const ofText = (text: string): QualityTest => ({
  kind: 'perplexity',
  text: { source: 'file', name: 'mine.txt', text },
  limit: null,
});

/** For longer than any of what happens meanwhile. */
const long = ofText('The harbour opens at nine, and the mill beside the river was painted last spring. '.repeat(8000));
const middling = { ...onManual, limit: 8192 };

function follow(client: Client) {
  const runs: QualityRun[] = [];
  client.on('quality.changed', (run) => runs.push(run));
  const wait = (fits: (run: QualityRun) => boolean) =>
    vi.waitFor(
      () => {
        const found = runs.findLast(fits);
        expect(found).toBeDefined();
        return found as QualityRun;
      },
      { timeout: 90_000, interval: 10 },
    );
  return {
    runs,
    wait,
    ended: () => wait(({ state }) => state.status !== 'running'),
    /** It has done some of its parts. */
    underWay: () => wait(({ state }) => state.status === 'running' && state.phase === 'scoring' && state.share > 0),
  };
}

async function done(client: Client, asked: QualityTest, modelId = STARTER) {
  const { ended } = follow(client);
  await client.call('quality.start', { modelId, test: asked });
  const { state } = await ended();
  if (state.status !== 'done') throw new Error(JSON.stringify(state));
  return state.result;
}

const inFolder = (dataFolder: string): string[] =>
  existsSync(join(dataFolder, 'evaluations'))
    ? readdirSync(join(dataFolder, 'evaluations'), { recursive: true, encoding: 'utf8' })
    : [];

async function copyOfStarter(client: Client, name = 'Copy'): Promise<ModelId> {
  const folder = join(newFolder(), name);
  cpSync(starter, folder, { recursive: true });
  return (await client.call('models.import', { path: folder })).id;
}

describe('a test', () => {
  test('is forecast, run, told as it goes, kept with its intervals, exported, and removed', {
    timeout: 180_000,
  }, async () => {
    const { client, dataFolder, host } = await startCore();
    const plan = await client.call('quality.plan', { modelId: STARTER, test: onManual });
    expect(plan).toMatchObject({ parts: 1, reads: 1024, writes: 0 });
    expect(plan.seconds).toBeGreaterThan(0);
    expect(plan.memoryBytes).toBeGreaterThan(1e6);
    // Sixty times the text takes longer than to load the model.
    const long = await client.call('quality.plan', {
      modelId: STARTER,
      test: ofText('The mill is old. '.repeat(12_000)),
    });
    expect(long.reads).toBeGreaterThan(50_000);
    expect(long.seconds).toBeGreaterThan(2 * plan.seconds);

    const since = performance.now();
    const result = (await done(client, onManual)) as ResultOf<'perplexity'>;
    const took = (performance.now() - since) / 1000;
    expect(result.tokens).toBe(1023);
    expect(result.blocks).toHaveLength(16);
    const { value, low, high } = result.perplexity;
    expect(low).toBeLessThan(value ?? 0);
    expect(value).toBeLessThan(high ?? 0);
    expect(result.bitsPerByte.value).toBeGreaterThan(0.5);
    expect(result.bitsPerByte.value).toBeLessThan(8);

    const [run] = await client.call('quality.list', { modelId: STARTER });
    expect(run).toMatchObject({ subject: { kind: 'perplexity', text: null, limit: 1024 }, state: { result } });
    const { seconds } = (run?.state.status === 'done' ? run.state : null) ?? { seconds: 0 };
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(took);
    expect(await client.call('quality.current')).toBeNull();
    expect(inFolder(dataFolder)).toEqual([]);
    const exported = JSON.parse(await client.call('quality.export', { modelId: STARTER }));
    expect(exported).toMatchObject({ model: 'Starter', results: [{ perplexity: result.perplexity, tokens: 1023 }] });

    await host.close();
    const again = await startCore({ dataFolder });
    expect(await again.client.call('quality.list', { modelId: STARTER })).toEqual([run]);
    await again.client.call('quality.remove', { id: run?.id ?? '' });
    expect(await again.client.call('quality.list', { modelId: STARTER })).toEqual([]);
  });

  test('against another model takes its predictions once, and keeps them for the next; they go with that model', {
    timeout: 180_000,
  }, async () => {
    const { client, dataFolder, host } = await startCore();
    const other = await copyOfStarter(client);
    const against: QualityTest = { ...onManual, kind: 'divergence', reference: { from: 'model', modelId: other } };
    const before = await client.call('quality.plan', { modelId: STARTER, test: against });
    expect(before.reads).toBe(2048);
    const { runs } = follow(client);
    const result = (await done(client, against)) as ResultOf<'divergence'>;
    expect(result).toMatchObject({ reference: 'Copy', sameTop: { value: 1 } });
    expect(result.kld.value).toBeLessThan(1e-6);
    const phases = runs.flatMap(({ state }) => (state.status === 'running' ? [state.phase] : []));
    expect([...new Set(phases)]).toEqual(['loading', 'reference', 'comparing']);

    expect((await client.call('quality.plan', { modelId: STARTER, test: against })).reads).toBe(1024);
    const second = follow(client);
    await done(client, against);
    const later = second.runs.flatMap(({ state }) => (state.status === 'running' ? [state.phase] : []));
    expect(later).not.toContain('reference');
    const kept = inFolder(dataFolder).filter((name) => name.endsWith('.reference'));
    expect(kept).toHaveLength(1);
    const path = join(dataFolder, 'evaluations', kept[0] ?? '');
    expect(statSync(path).mode & 0o77).toBe(0);

    // A file of predictions, as the command line writes it too.
    const saved = await done(client, { ...against, reference: { from: 'file', path } });
    expect(saved).toMatchObject({ reference: 'Copy', sameTop: { value: 1 }, tokens: result.tokens });
    // Of another text, they are refused by the forecast already.
    const shorter = { ...against, limit: 512, reference: { from: 'file' as const, path } };
    expect(await refusal(client.call('quality.plan', { modelId: STARTER, test: shorter }))).toEqual({
      code: 'bad-request',
      reason: 'quality-other-text',
    });

    await client.call('models.remove', { modelId: other });
    await host.close();
    expect(inFolder(dataFolder).filter((name) => name.endsWith('.reference'))).toEqual([]);
  });

  test('by questions, texts, hidden sentences and problems: each counts what it asks', {
    timeout: 180_000,
  }, async () => {
    const { client } = await startCore();
    const questions = [
      { question: 'Two and two are', choices: ['nine', 'four'], answer: 1 },
      { question: 'The sky is', choices: ['blue', 'a potato made of stone'], answer: 0 },
    ];
    const lines = questions.map((one) => JSON.stringify(one)).join('\n');
    const choices = await done(client, { kind: 'choices', name: 'q.jsonl', questions: lines });
    expect(choices).toMatchObject({ kind: 'choices', questions: 2, answers: [{}, {}] });
    const facts = [
      { context: 'Ann has a red bicycle.', input: 'What is red?', answers: ['bicycle'] },
      { context: 'Ann has a red bicycle. '.repeat(200), answers: ['She has one.'] },
    ];
    const written = facts.map((one) => JSON.stringify(one)).join('\n');
    const asked = { name: 't.jsonl', metric: 'f1', longest: 256, maxTokens: 16 } as const;
    const reading = await done(client, { kind: 'reading', ...asked, questions: written });
    expect(reading).toMatchObject({ kind: 'reading', metric: 'f1', questions: 2, shortened: 1, answers: [{}, {}] });
    const needle = await done(client, { kind: 'needle', lengths: [64, 128], depths: [0, 100], seed: 1 });
    expect(needle).toMatchObject({ kind: 'needle', texts: [{ length: 64, depth: 0 }, {}, {}, { depth: 100 }] });
    const reasoning = await done(client, { kind: 'reasoning', problems: 1, maxTokens: 64, seed: 1 });
    expect(reasoning).toMatchObject({
      kind: 'reasoning',
      attempts: [{}, {}, {}, {}, {}],
      kinds: [{ problems: 1 }, {}, {}, {}, {}],
    });
  });
});

describe('stopped', () => {
  test('it keeps what it has done, also after the app was closed, and goes on from there: nothing is done twice, and the rest is as in one go', {
    timeout: 240_000,
  }, async () => {
    const { client, dataFolder, host } = await startCore();
    const whole = (await done(client, middling)) as ResultOf<'perplexity'>;
    const first = follow(client);
    const { id } = await client.call('quality.start', { modelId: STARTER, test: middling });
    await first.underWay();
    await client.call('quality.stop');
    expect(first.runs.at(-1)?.state).toEqual({ status: 'stopped' });
    const parts = inFolder(dataFolder).filter((name) => name.endsWith('.part')).length;
    expect(parts).toBeGreaterThan(0);
    await host.close();

    // Had it been done again, the losses of the first window would not be nothing.
    const kept = join(dataFolder, 'evaluations', id, 'window-0.part');
    const { found } = deserialize(readFileSync(kept)) as { found: Float32Array };
    writeFileSync(kept, serialize({ found: found.fill(0) }));
    const again = await startCore({ dataFolder });
    expect((await again.client.call('quality.list', { modelId: STARTER }))[0]).toMatchObject({
      id,
      state: { status: 'stopped' },
    });
    const second = follow(again.client);
    await again.client.call('quality.resume', { id });
    const { state } = await second.ended();
    const { blocks, tokens } = (state.status === 'done' ? state.result : null) as ResultOf<'perplexity'>;
    const windowBlocks = found.length / 64;
    expect(Math.abs(blocks[0] ?? 1)).toBe(0);
    expect(blocks.slice(windowBlocks + 1)).toEqual(whole.blocks.slice(windowBlocks + 1));
    expect(tokens).toBe(whole.tokens);
    const shares = second.runs.flatMap(({ state: { status, ...rest } }) =>
      status === 'running' && 'phase' in rest && rest.phase === 'scoring' && rest.share > 0 ? [rest.share] : [],
    );
    expect(shares[0] ?? 1).toBeGreaterThan(parts / 8);
  });

  test('an app that was closed in the middle leaves it stopped; one whose process is killed says so, and it goes on', {
    timeout: 180_000,
  }, async () => {
    const { startConverter, kill } = killable();
    const { client, dataFolder, host } = await startCore({ models: { startConverter } });
    const { underWay, ended } = follow(client);
    const { id } = await client.call('quality.start', { modelId: STARTER, test: long });
    await underWay();
    kill();
    expect(await ended()).toMatchObject({
      state: { status: 'failed', failure: { details: { reason: 'quality-lost' } } },
    });
    const next = follow(client);
    await client.call('quality.resume', { id });
    await next.underWay();
    await host.close();
    const again = await startCore({ dataFolder });
    const [run] = await again.client.call('quality.list', { modelId: STARTER });
    expect(run).toMatchObject({ id, state: { status: 'stopped' } });
    await again.client.call('quality.remove', { id });
    expect(inFolder(dataFolder)).toEqual([]);
  });

  test('a text that was deleted in between is said to be gone', { timeout: 120_000 }, async () => {
    const { client, dataFolder } = await startCore();
    const { wait } = follow(client);
    const { id } = await client.call('quality.start', { modelId: STARTER, test: long });
    await wait(({ state }) => state.status === 'running');
    await client.call('quality.stop');
    rmSync(join(dataFolder, 'evaluations', id), { recursive: true });
    expect((await refusal(client.call('quality.resume', { id }))).code).toBe('not-found');
  });
});

describe('a chat comes first', () => {
  test('the process is told when the engine begins to answer, and when it has answered; a second window sees the test too', {
    timeout: 180_000,
  }, async () => {
    const start = converterByFork(places);
    const told: boolean[] = [];
    const startConverter: StartConverter = async () => {
      const process = await start();
      const send = (message: ToConverter) => {
        if ('wait' in message) told.push(message.wait);
        process.pipe.send(message);
      };
      return { ...process, pipe: { ...process.pipe, send } };
    };
    const { client, host } = await startCore({ models: { startConverter } });
    const second = connect(host);
    const other = follow(second);
    const run = await client.call('quality.start', { modelId: STARTER, test: long });
    await other.underWay();
    expect(await second.call('quality.current')).toMatchObject({ id: run.id, state: { status: 'running' } });
    // While the app loads its model, which comes first too.
    told.length = 0;
    const { end } = listen(client);
    const { id: chatId } = await client.call('chats.create', { modelId: STARTER });
    const { turnId } = await client.call('turns.send', { chatId, text: 'Hello!' });
    await end(turnId);
    await until(
      async () => told,
      (waits) => waits.includes(true) && waits.at(-1) === false,
    );
    await second.call('quality.stop');
  });

  test('held up, it begins no further part, says that it waits, and then goes on to the end', {
    timeout: 120_000,
  }, async () => {
    const { pipe, kill } = await converterByFork(places)();
    onTestFinished(kill);
    const heard: FromConverter[] = [];
    pipe.onMessage((message) => heard.push(message as FromConverter));
    const folder = newFolder();
    const parts = () => readdirSync(folder).filter((name) => name.endsWith('.part')).length;
    const model = { path: starter, device: null, threads: null };
    const subject = { kind: 'perplexity', text: null, limit: 4096 } as const;
    pipe.send({ wait: true });
    pipe.send({ evaluate: { model, test: subject, material: null, reference: null, folder } });
    const waiting = () => heard.some((message) => 'evaluation' in message && message.evaluation.waiting);
    await vi.waitFor(() => expect(waiting()).toBe(true), { timeout: 60_000 });
    await delay(1500);
    expect(parts()).toBe(0);
    pipe.send({ wait: false });
    await vi.waitFor(() => expect(heard.at(-1)).toHaveProperty('evaluated'), { timeout: 60_000 });
    expect(parts()).toBeGreaterThan(1);
  });
});

test('a model that is removed takes its results, its test under way and its predictions along', {
  timeout: 180_000,
}, async () => {
  const { client, dataFolder, host } = await startCore();
  const other = await copyOfStarter(client);
  const against: QualityTest = { ...onManual, kind: 'divergence', reference: { from: 'model', modelId: other } };
  await done(client, against);
  await done(client, onManual, other);
  const { underWay, runs } = follow(client);
  await client.call('quality.start', { modelId: other, test: long });
  await underWay();
  await client.call('models.remove', { modelId: other });
  expect(runs.at(-1)?.state.status).toBe('stopped');
  expect(await client.call('quality.current')).toBeNull();
  await client.call('models.restore', { modelId: other });
  expect(await client.call('quality.list', { modelId: other })).toHaveLength(2);
  await client.call('models.remove', { modelId: other });
  await host.close();
  expect(inFolder(dataFolder).filter((name) => name !== 'references')).toEqual([]);
  const again = await startCore({ dataFolder });
  expect(await again.client.call('quality.list', { modelId: other })).toEqual([]);
  // The result that names it belongs to the model that was tested.
  expect(await again.client.call('quality.list', { modelId: STARTER })).toHaveLength(1);
});

test('what a killed app left in the profile is removed, and of other things nothing', { timeout: 60_000 }, async () => {
  const dataFolder = newFolder();
  for (const name of ['01890a5d', 'references/nobody', `references/${STARTER}`])
    mkdirSync(join(dataFolder, 'evaluations', name), { recursive: true });
  await startCore({ dataFolder });
  await until(
    async () => inFolder(dataFolder).sort(),
    (names) => names.join() === `references,references/${STARTER}`,
  );
});

describe('is refused', () => {
  test('bad texts, each with its reason; nothing is begun or left', { timeout: 120_000 }, async () => {
    const { client, dataFolder } = await startCore();
    const reasonOf = async (asked: QualityTest) =>
      (await refusal(client.call('quality.plan', { modelId: STARTER, test: asked }))).reason;
    expect(await reasonOf(ofText(' \n'))).toBe('quality-short-text');
    expect(await reasonOf(ofText('a'))).toBe('quality-short-text');
    expect(await reasonOf(ofText('PK\0\u0003'))).toBe('quality-not-text');
    expect(await reasonOf(ofText('\ufffd'.repeat(100)))).toBe('quality-not-text');
    expect(await reasonOf({ kind: 'choices', name: 'q', questions: 'no' })).toBe('quality-questions');
    expect(await reasonOf({ kind: 'choices', name: 'q', questions: '\n' })).toBe('quality-short-text');
    const reading = { kind: 'reading', name: 'q', metric: 'f1', longest: 256, maxTokens: 16 } as const;
    expect(await reasonOf({ ...reading, questions: '{"context": "x"}' })).toBe('quality-questions');
    expect(await reasonOf({ kind: 'needle', lengths: [262_144], depths: [0], seed: 1 })).toBe('quality-too-long');
    const gone = { ...onManual, kind: 'divergence', reference: { from: 'file', path: '/nowhere' } } as const;
    expect(await reasonOf(gone)).toBe('no-file');
    expect((await refusal(client.call('quality.start', { modelId: STARTER, test: ofText('') }))).reason).toBe(
      'quality-short-text',
    );
    expect(await client.call('quality.list', { modelId: STARTER })).toEqual([]);
    expect(inFolder(dataFolder)).toEqual([]);
  });

  test('a second test, a model that only reads, questions to one without a template, and a reference of another tokenizer', {
    timeout: 180_000,
  }, async () => {
    const { client } = await startCore();
    const reader = await client.call('models.import', { path: join(places.resources, 'encoder') });
    const reads = { code: 'model-unsupported', reason: 'writes-nothing' };
    expect(await refusal(client.call('quality.plan', { modelId: reader.id, test: onManual }))).toEqual(reads);
    const llama = await client.call('models.import', { path: await readingLlama(newFolder()) });
    const against: QualityTest = { ...onManual, kind: 'divergence', reference: { from: 'model', modelId: llama.id } };
    const other = { code: 'bad-request', reason: 'quality-other-text' };
    expect(await refusal(client.call('quality.plan', { modelId: STARTER, test: against }))).toEqual(other);
    const { ended } = follow(client);
    const problems: QualityTest = { kind: 'reasoning', problems: 1, maxTokens: 16, seed: 1 };
    const none = { code: 'template-failed', reason: 'quality-no-template' };
    expect(await refusal(client.call('quality.plan', { modelId: llama.id, test: problems }))).toEqual(none);
    await client.call('quality.start', { modelId: llama.id, test: problems });
    const again = await refusal(client.call('quality.start', { modelId: STARTER, test: onManual }));
    expect(again).toEqual({ code: 'conflict', reason: 'quality-busy' });
    expect(await ended()).toMatchObject({
      state: { status: 'failed', failure: { details: { reason: 'quality-no-template' } } },
    });
  });
});
