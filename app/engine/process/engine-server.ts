import type * as Addon from '../../../native/addon/index.d.ts';
import {
  type ChatId,
  failureOf,
  guarded,
  LonghandError,
  ModelDescription,
  type Pipe,
  type TurnId,
} from '../../protocol/index.ts';
import { createTemplateRenderer } from '../../text/jinja/template-renderer.ts';
import { withTemplate } from '../../text/model-text.ts';
import type {
  AskName,
  Asks,
  CountedBy,
  Embedded,
  Embedding,
  FromEngine,
  Generation,
  InnerStatus,
  LoadTarget,
  Prompt,
  PromptMessage,
  ToEngine,
} from '../ipc-protocol.ts';
import { loadAddon } from './addon.ts';
import { toLonghandError, toldOfGpu } from './addon-errors.ts';
import { createEmbeddingModels } from './embedding/embedding-models.ts';
import { type Running, runGeneration } from './generation/generation.ts';
import { inspectModel, type LoadedModel, loadModel, nativeDisk } from './model/loaded-model.ts';
import { type EngineText, readEngineText } from './model/model-vision.ts';
import { createPictureReader } from './prompt/picture-reader.ts';
import { countPicture, countPrompt, countText } from './prompt/prompt-tokens.ts';
import { readBack } from './prompt/read-back.ts';
import { previewTemplate } from './prompt/template-preview.ts';
import { createScheduler, type Work } from './scheduler.ts';

/** `worker`: the file of template-process; `pictureWorker`: that of picture-process. */
type EngineFiles = { addon: string; worker: string; pictureWorker: string };

/** The engine process: the only place in the app that loads the addon. Serves the core until the pipe closes; then the
 *  process exits, so that none is left behind if the core was killed. */
export function runEngineHost(pipe: Pipe<FromEngine, ToEngine>, files: EngineFiles) {
  const addon = loadAddon(files.addon);
  const renderer = createTemplateRenderer({ worker: files.worker });
  renderer.warm();
  const pictures = createPictureReader(files.pictureWorker);
  const turns = new Map<TurnId, Running>();
  const queue = createScheduler(() =>
    model && !failing() ? model.capacity : { atOnce: 1, bytes: Number.POSITIVE_INFINITY },
  );
  const embedders = createEmbeddingModels(addon);
  let model: LoadedModel | null = null;
  /** Tokenizer and template of a model that is not loaded. */
  let beside: { key: string; text: Promise<EngineText> } | null = null;
  /** The GPU's error: from then on the CPU is used until this process restarts. */
  let gpuFault: string | null = null;
  /** An answer ran out of memory: the model is unloaded, and the next request loads it again. */
  let outOfMemory = false;
  let loading: { target: LoadTarget; signal: Addon.AbortFlag } | null = null;
  /** The load whose kernel progress is reported: an earlier one may still send events. */
  let newest: object | null = null;
  /** Progress of compiling the loaded model's kernels, until all are ready. */
  let compilingKernels: { done: number; total: number } | null = null;
  let now: InnerStatus = { phase: 'idle' };
  /** Answers being written, in starting order. */
  const writing = new Map<TurnId, ChatId | null>();
  /** For each chat, the answer to be prefilled for its next turn. */
  const newestAnswers = new Map<ChatId | null, PromptMessage>();
  let readingBack: Addon.AbortFlag | null = null;

  const send = (message: FromEngine) => pipe.send(message);
  const status = (next: InnerStatus) => {
    now = next;
    send({ status: now });
  };
  const loadedInfo = (loaded: LoadedModel) => ({
    ...loaded.loadedInfo(),
    ...(gpuFault !== null && { fallbackReason: gpuFault }),
    ...(compilingKernels && { compilingKernels }),
  });
  const atRest = (): InnerStatus => {
    if (!model) return { phase: 'idle' };
    if (writing.size === 0) return { phase: 'ready', ...loadedInfo(model) };
    return { phase: 'busy', ...loadedInfo(model), writing: [...writing.keys()].map((turnId) => ({ turnId })) };
  };
  /** The model must be unloaded as soon as nothing runs; until then nothing else may start. */
  const failing = () => outOfMemory || (gpuFault !== null && model !== null && model.loaded().backEnd !== 'cpu');

  const answers: { [Name in AskName]: (input: Asks[Name]['input']) => Promise<Asks[Name]['output']> } = {
    devices: () => addon.devices(),
    inspect: (asked) => inspectModel(addon, renderer, asked, model?.target.path === asked.path ? model.text : null),
    describe: async ({ config, tensors, container }) =>
      ModelDescription.parse(addon.describe(config, tensors, container)),
    preview: (asked) => previewTemplate(addon, renderer, asked),
    template: async (asked) => (await textOf(asked)).template,
    bandwidth: () => inTurn(() => addon.memoryBandwidth()),
    load: (target) => {
      // A newer request cancels the load of another model.
      if (loading && !same(loading.target, target)) loading.signal.set();
      return inTurn(async () => (await ensure(target)).loaded(), inMemory(target));
    },
    unload: () =>
      inTurn(async () => {
        release();
        status(atRest());
        return null;
      }),
    promptCache: async () => model?.native.promptCache() ?? null,
    setPromptCache: async ({ bytes, disk }) => {
      if (model) await setPromptCache(model, { cacheBytes: bytes, cacheDisk: disk });
      return null;
    },
    erasePromptCache: ({ chatId }) => {
      newestAnswers.delete(chatId);
      // Runs alone if a running answer may belong to this very chat.
      const elsewhere = writing.size > 0 && !([...writing.values()] as unknown[]).includes(chatId);
      return inTurn(
        async () => {
          await model?.native.erasePromptCache(chatId);
          return null;
        },
        elsewhere && model ? inMemory(model.target) : undefined,
      );
    },
    clearPromptCache: async () => {
      newestAnswers.clear();
      readingBack?.set(); // otherwise it would reload the model it started with
      await model?.forgetPrompts();
      return null;
    },
    relieveMemory: async () => {
      model?.native.relieveMemory();
      return null;
    },
    count: async (asked) => countPrompt(await textOf(asked.model), renderer, asked.prompt),
    countText: async (asked) => countText((await textOf(asked.model)).tokenizer, asked.text),
    countPicture: async ({ model: by, picture }) => countPicture(await textOf(by), picture),
    recognise: async ({ picture }) => (addon.canRecognise() ? addon.recognise(picture) : null),
    rank: (ranking) => embedders.rank(ranking),
    embed: (embedding) => (embedding.urgent ? embedders.embed(embedding, () => true) : embedWhenIdle(embedding)),
  };

  /** Tokenizer and template of a model, loaded or not; the last one used is cached until a model is loaded. */
  function textOf(asked: CountedBy): Promise<EngineText> {
    const key = textKey(asked);
    if (model && textKey(model.target) === key) return Promise.resolve(model.text);
    if (beside?.key === key) return beside.text;
    const text = readEngineText(addon, asked).then((own) => withTemplate(own, asked.template));
    const mine = { key, text };
    beside = mine;
    text.catch(() => {
      if (beside === mine) beside = null;
    });
    return text;
  }

  /** Runs at the lowest priority; preempted, it returns what is done. */
  function embedWhenIdle(embedding: Embedding): Promise<Embedded> {
    let goOn = true;
    return new Promise((resolve, reject) => {
      queue.add('index', {
        run: () => embedders.embed(embedding, () => goOn).then(resolve, reject),
        yieldTo: () => {
          goOn = false;
        },
      });
    });
  }

  /** Runs after everything queued before it: a model is never unloaded under a running answer. With a group it runs
   *  beside answers of that model. */
  function inTurn<T>(work: () => Promise<T>, group?: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => (async () => work())().then(resolve, reject);
      queue.add('chat', { run, yieldTo: () => {}, ...(group !== undefined && { group }) });
    });
  }

  async function setPromptCache(to: LoadedModel, cache: Pick<LoadTarget, 'cacheBytes' | 'cacheDisk'>) {
    to.native.setPromptCache(cache.cacheBytes);
    const before = JSON.stringify(to.target.cacheDisk);
    to.target.cacheBytes = cache.cacheBytes;
    to.target.cacheDisk = cache.cacheDisk;
    if (JSON.stringify(cache.cacheDisk) !== before) await to.native.setPromptCacheDisk(nativeDisk(cache));
  }

  async function ensure(target: LoadTarget): Promise<LoadedModel> {
    if (model && same(model.target, target)) {
      await setPromptCache(model, target);
      return model;
    }
    release();
    const signal = new addon.AbortFlag();
    const mine = { target, signal };
    loading = mine;
    newest = mine;
    try {
      status({ phase: 'loading', modelId: target.modelId, done: 0, total: 1 });
      const onProgress = (done: number, total: number) =>
        status({ phase: 'loading', modelId: target.modelId, done, total });
      const onKernels = (done: number, total: number) => {
        if (newest === mine) prepared(done, total);
      };
      model = await loadModel(addon, target, gpuFault === null ? target.device : 'cpu', signal, onProgress, onKernels);
      if (signal.isSet) throw stopped();
      // Ready means that a question is answered at once, so run template and tokenizer once beforehand.
      await countPrompt(model.text, renderer, hello).catch(() => {});
      if (signal.isSet) throw stopped();
      return model;
    } catch (error) {
      release();
      throw error;
    } finally {
      loading = null;
      status(atRest());
      queue.look();
    }
  }

  function release() {
    model?.close();
    model = null;
    beside = null;
    newest = null;
    compilingKernels = null;
  }

  function prepared(done: number, total: number) {
    compilingKernels = done < total ? { done, total } : null;
    // Once all kernels are compiled `loadedInfo` omits them, so refresh the status that mentioned them.
    if (now.phase === 'ready' || now.phase === 'busy') status(atRest());
  }

  function generate(generation: Generation) {
    const { turnId, priority, target } = generation;
    const turn = runGeneration({
      addon,
      renderer,
      pictures,
      generation,
      report(updates) {
        for (const { event } of updates) {
          if (event.type === 'finished' || event.type === 'failed') turns.delete(turnId);
          // A turn that was stopped while queued must not block those behind it.
          if (event.type === 'finished') queue.withdraw(work);
          if (event.type !== 'failed') continue;
          if (toldOfGpu(event.failure)) gpuFault = event.failure.message;
          outOfMemory ||= event.failure.code === 'out-of-memory';
        }
        send({ turnId, updates });
      },
      again: () => queue.add(priority, work),
    });
    // A title runs alone and is preempted by anything; an answer is not preempted by another answer.
    const work: Work =
      priority === 'title'
        ? { run, yieldTo: turn.cancel }
        : {
            run,
            yieldTo: () => {},
            group: inMemory(target),
            bytes: () => model?.bytesFor(generation) ?? 0,
          };
    async function run() {
      // Stopped while queued: do not load or unload a model for it.
      if (turn.over()) return;
      try {
        const loaded = await ensure(target);
        writing.set(turnId, generation.chatId);
        status(atRest());
        await turn.run(loaded);
        const answer = turn.answer();
        if (answer && priority !== 'title' && !generation.prompt.raw) readBackLater(generation, answer);
      } catch (error) {
        // The load it waited for was cancelled.
        if (toLonghandError(error).code === 'cancelled') turn.cancel();
        else turn.fail(error);
      } finally {
        writing.delete(turnId);
        if (writing.size === 0 && failing()) release();
        if (writing.size === 0) outOfMemory = false;
        status(atRest());
      }
    }
    turns.set(turnId, turn);
    queue.add(priority, work);
  }

  /** At the lowest priority, and only for the newest answer of each chat: an older one is prefilled with its next
   *  turn. */
  function readBackLater(generation: Generation, answer: PromptMessage) {
    const { chatId } = generation;
    newestAnswers.set(chatId, answer);
    const current = () => newestAnswers.get(chatId) === answer;
    const signal = new addon.AbortFlag();
    queue.add('read-back', {
      async run() {
        if (!model || !current() || !same(model.target, generation.target)) return;
        readingBack = signal;
        const done = await readBack(model, { renderer, pictures }, generation, answer, signal);
        if (!current()) return;
        if (done) newestAnswers.delete(chatId);
        else readBackLater(generation, answer);
      },
      yieldTo: () => signal.set(),
    });
  }

  async function answer(message: Extract<ToEngine, { ask: AskName }>) {
    try {
      if (!Object.hasOwn(answers, message.ask)) throw new LonghandError('bad-request', `[engine] no "${message.ask}"`);
      const reply = answers[message.ask] as (input: unknown) => Promise<unknown>;
      send({ id: message.id, value: await reply(message.input) });
    } catch (error) {
      send({ id: message.id, failure: failureOf(toLonghandError(error)) });
    }
  }

  function hear(message: ToEngine) {
    if ('ask' in message) void answer(message);
    else if ('generate' in message) generate(message.generate);
    else if ('cancelLoad' in message) loading?.signal.set();
    else if ('cancel' in message) turns.get(message.cancel)?.cancel();
    else if ('answerNow' in message) turns.get(message.answerNow)?.answerNow();
    else if ('beat' in message) send({ pulse: { ...addon.pulse(), loading: loading !== null } });
    else if ('decide' in message) turns.get(message.decide)?.decide(message.choice);
    else if ('quit' in message) endProcess();
  }

  // A malformed message must not stop what is running.
  pipe.onMessage(guarded(console.error, hear));
  pipe.onClose(endProcess);
}

const stopped = () => new LonghandError('cancelled', '[engine] the load was stopped');

const hello: Prompt = {
  messages: [{ role: 'user', text: 'Hello!', thinking: '', ids: null }],
  thinking: true,
  continuation: null,
};

const textKey = ({ path, template, vision }: CountedBy): string => JSON.stringify([path, template, vision]);

/** Whether one in memory serves as the other: where its packed weights are kept matters to the next load only, and what the
 *  prompt cache may take changes as it is. */
const same = (a: LoadTarget, b: LoadTarget): boolean => inMemory(a) === inMemory(b);
const inMemory = (target: LoadTarget): string =>
  JSON.stringify({ ...target, packed: null, cacheBytes: 0, cacheDisk: null });

/** At once: threads of the addon may be inside a long computation, and nothing here is worth waiting for. */
function endProcess() {
  process.kill(process.pid, 'SIGKILL');
}
