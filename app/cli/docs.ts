import { basename, resolve } from 'node:path';
import { citedIn } from '../documents/citations.ts';
import {
  type Client,
  type Collection,
  type Document,
  LonghandError,
  type Message,
  type ModelId,
  quotedIn,
  type TurnEvent,
  whereOf,
} from '../protocol/index.ts';
import { table } from './arguments.ts';
import { type Context, command, type Flags, UsageError, type Values } from './command.ts';
import { DATA_FLAG, withCore } from './core.ts';
import { bytes } from './terminal.ts';

const FLAGS = {
  ...DATA_FLAG,
  collection: { kind: 'text', value: 'NAME', help: 'default: add to "Documents", else all of them' },
  encoder: { kind: 'text', value: 'NAME', help: 'add: search the collection with this model too, or with "none"' },
  model: { kind: 'text', value: 'NAME', help: 'ask: the model that answers; default that of the app' },
  limit: { kind: 'count', value: 'N', help: 'search: at most so many passages; default 10' },
} as const satisfies Flags;

type Work = (
  context: Context,
  client: Client,
  values: Values<typeof FLAGS>,
  words: readonly string[],
) => Promise<number>;

const ACTIONS: Readonly<Record<string, Work>> = { add, list, search, ask, rm };

//  Exit codes beside those of every command: `search` and `ask` end with 1 when nothing was found, `add` when a file could
//  not be read.
export const docs = command({
  name: 'docs',
  summary: 'Documents: add files and folders, list, search, ask them, remove. Nothing leaves this computer.',
  usage: 'add PATH… | list | search WORDS | ask QUESTION | rm NAME',
  words: [1, 1000],
  flags: FLAGS,
  async run(context, values, [action = '', ...words]) {
    const work = ACTIONS[action];
    if (!work) {
      throw new UsageError(`[docs] "${action}" came, allowed are ${Object.keys(ACTIONS).join(', ')}`);
    }
    if (action !== 'list' && words.length === 0) throw new UsageError(`[docs] ${action} needs something after it`);
    return withCore(context, values.data, (client) => work(context, client, values, words));
  },
});

async function add(
  { terminal, json, places, signal }: Context,
  client: Client,
  values: Values<typeof FLAGS>,
  paths: readonly string[],
): Promise<number> {
  const name = values.collection ?? 'Documents';
  const known = (await client.call('documents.collections')).find((one) => one.name === name);
  const collection = known ?? (await client.call('documents.createCollection', { name }));
  const collectionId = collection.id;
  if (values.encoder !== undefined) {
    const modelId = values.encoder === 'none' ? null : await modelNamed(client, values.encoder);
    await client.call('documents.setEmbedding', { collectionId, modelId });
  }
  const bar = terminal.progress('reading');
  const states = new Map<string, Document>();
  const stop = client.on('document.changed', (document) => {
    states.set(document.id, document);
    const settled = [...states.values()].filter(isSettled).length;
    bar.show(settled, states.size);
  });
  try {
    const added = await client.call('documents.add', {
      collectionId,
      files: paths.map((path) => ({ path: resolve(places.here, path), name: basename(path) })),
    });
    const wanted = new Set<string>(added.map(({ id }) => id));
    const documents = await until(signal, async () => {
      const all = (await client.call('documents.list', { collectionId })).filter(({ id }) => wanted.has(id));
      return all.every(isSettled) ? all : null;
    });
    await until(signal, async () => {
      const { embedding } = collectionWith(await client.call('documents.collections'), collectionId);
      if (!embedding || embedding.done >= embedding.total) return true;
      bar.show(embedding.done, embedding.total);
      return null;
    });
    bar.end();
    if (json) terminal.out(`${JSON.stringify({ collection: name, documents })}\n`);
    else terminal.out(`${table(documents.map(rowOf))}\n`);
    return documents.some(({ state }) => state.at === 'failed') ? 1 : 0;
  } finally {
    stop();
    bar.end();
  }
}

const isSettled = ({ state }: Document): boolean => state.at === 'ready' || state.at === 'failed';

async function list({ terminal, json }: Context, client: Client, values: Values<typeof FLAGS>): Promise<number> {
  const { collection } = values;
  const collections =
    collection === undefined ? await client.call('documents.collections') : await chosen(client, collection);
  const documents = (await client.call('documents.list', {})).filter(({ collectionId }) =>
    collections.some(({ id }) => id === collectionId),
  );
  if (json) {
    terminal.out(`${JSON.stringify({ collections, documents })}\n`);
    return 0;
  }
  for (const { id, name, embedding } of collections) {
    const how = embedding ? `words and meaning (${embedding.name}, ${embedding.done} of ${embedding.total})` : 'words';
    terminal.out(`${name}: searched by ${how}\n`);
    const own = documents.filter(({ collectionId }) => collectionId === id);
    if (own.length > 0) terminal.out(`${table(own.map(rowOf))}\n`);
  }
  return 0;
}

const rowOf = ({ name, fileName, kind, bytes: size, passages, state }: Document): string[] => [
  `  ${name}`,
  fileName,
  kind,
  bytes(size),
  state.at === 'failed' ? `failed: ${state.failure.message}` : state.at === 'ready' ? `${passages} passages` : state.at,
];

async function search(
  { terminal, json }: Context,
  client: Client,
  values: Values<typeof FLAGS>,
  words: readonly string[],
): Promise<number> {
  const collections = await chosen(client, values.collection);
  const { by, hits } = await client.call('documents.search', {
    query: words.join(' '),
    collectionIds: collections.map(({ id }) => id),
    limit: values.limit ?? 10,
  });
  const documents = new Map((await client.call('documents.list', {})).map((one) => [one.id, one]));
  if (json) terminal.out(`${JSON.stringify({ by, hits })}\n`);
  else {
    for (const { documentId, label, excerpt } of hits) {
      terminal.out(`${terminal.bold(`${documents.get(documentId)?.name ?? ''}, ${label}`)}\n  ${excerpt}\n`);
    }
    terminal.note(terminal.dim(by === 'words' ? 'searched by words alone' : 'searched by words and meaning'));
  }
  return hits.length > 0 ? 0 : 1;
}

async function ask(
  { terminal, json, signal }: Context,
  client: Client,
  values: Values<typeof FLAGS>,
  words: readonly string[],
): Promise<number> {
  const collections = await chosen(client, values.collection);
  const modelId = values.model === undefined ? null : await modelNamed(client, values.model);
  const { id: chatId } = await client.call('chats.create', { modelId });
  await client.call('chats.update', { chatId, collectionIds: collections.map(({ id }) => id) });
  try {
    const message = await answerTo(client, chatId, words.join(' '), signal, (event) => {
      if (!json && event.type === 'delta' && event.kind === 'answer') terminal.out(event.text);
    });
    const { text, grounding, state } = message;
    if (state.at === 'failed') throw new LonghandError(state.failure.code, state.failure.message);
    const found = grounding?.found ?? false;
    const quoted = quotedIn(grounding);
    const quote = quoted && { ...grounding?.quote, text: quoted.text, where: quoted.where };
    if (json) terminal.out(`${JSON.stringify({ answer: text, found, ...grounding, quote })}\n`);
    else report(terminal, message);
    return found ? 0 : 1;
  } finally {
    await client.call('chats.delete', { chatId });
  }
}

function report(terminal: Context['terminal'], { text, grounding }: Message) {
  terminal.out('\n');
  if (!grounding) return;
  const quoted = quotedIn(grounding);
  if (quoted) terminal.out(`\n“${quoted.text}”\n  ${quoted.where}\n`);
  const cited = citedIn(text);
  const sources = grounding.sources.filter(({ number }) => !grounding.found || cited.has(number));
  const title = grounding.found ? 'Cited:' : 'Closest:';
  if (sources.length > 0) terminal.note(terminal.dim(title));
  for (const source of sources) terminal.note(terminal.dim(`  [${source.number}] ${whereOf(source)}`));
  const weak = grounding.support.filter(({ level }) => level !== 'supported').length;
  if (weak > 0) terminal.note(terminal.dim(`${weak} of ${grounding.support.length} sentences are not fully supported`));
}

async function answerTo(
  client: Client,
  chatId: Message['chatId'],
  text: string,
  signal: AbortSignal,
  onEvent: (event: TurnEvent) => void,
): Promise<Message> {
  let ended = false;
  const stop = client.on('turn', ({ chatId: of, event }) => {
    if (of !== chatId) return;
    onEvent(event);
    ended ||= event.type === 'finished' || event.type === 'failed';
  });
  const { messageId, turnId } = await client.call('turns.send', { chatId, text });
  const cancel = () => void (turnId && client.call('turns.cancel', { turnId }));
  signal.addEventListener('abort', cancel);
  try {
    await until(new AbortController().signal, async () => ended || null);
    const { messages } = await client.call('chats.get', { chatId });
    const message = messages.find(({ id }) => id === messageId);
    if (signal.aborted) throw new LonghandError('cancelled', '[docs] stopped');
    if (!message) throw new LonghandError('internal', '[docs] the answer is gone');
    return message;
  } finally {
    stop();
    signal.removeEventListener('abort', cancel);
  }
}

async function rm(
  { terminal, json }: Context,
  client: Client,
  values: Values<typeof FLAGS>,
  words: readonly string[],
): Promise<number> {
  const name = words.join(' ');
  const collections = await chosen(client, values.collection);
  const found = (await client.call('documents.list', {})).filter(
    (one) =>
      collections.some(({ id }) => id === one.collectionId) &&
      (one.id === name || one.name === name || one.fileName === name),
  );
  if (found.length !== 1) {
    const problem = found.length === 0 ? 'no document' : `${found.length} documents`;
    throw new LonghandError('not-found', `[docs] ${problem} "${name}"; longhand docs list shows names and files`);
  }
  for (const { id } of found) await client.call('documents.remove', { documentId: id });
  terminal.out(
    json ? `${JSON.stringify({ removed: found[0]?.name })}\n` : `${found[0]?.name} removed; the file stays\n`,
  );
  return 0;
}

/** The one that was named, else all of the user's; the manual only where there is nothing else. @throws LonghandError `not-found` with the names there are */
async function chosen(client: Client, name: string | undefined): Promise<Collection[]> {
  const all = await client.call('documents.collections');
  const own = all.filter(({ builtIn }) => !builtIn);
  if (name === undefined) return own.length > 0 ? own : all;
  const named = all.filter((one) => one.name === name || one.id === name);
  if (named.length > 0) return named;
  const names = all.map((one) => one.name).join(', ') || 'none yet';
  throw new LonghandError('not-found', `[docs] no collection "${name}", there are ${names}`);
}

const collectionWith = (all: readonly Collection[], id: Collection['id']): Collection => {
  const found = all.find((one) => one.id === id);
  if (!found) throw new LonghandError('not-found', '[docs] the collection was removed meanwhile');
  return found;
};

/** @throws LonghandError `not-found` with the names there are */
async function modelNamed(client: Client, name: string): Promise<ModelId> {
  const models = await client.call('models.list');
  const found = models.find((model) => model.name === name || model.id === name || model.path === name);
  if (found) return found.id;
  const names = models.map((model) => model.name).join(', ');
  throw new LonghandError('not-found', `[docs] no model "${name}", there are ${names}`);
}

const LOOK_MS = 100;

/** @throws LonghandError `cancelled` */
async function until<T>(signal: AbortSignal, look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== null) return seen;
    if (signal.aborted)
      throw new LonghandError('cancelled', '[docs] stopped; what was added is read at the next start');
    await new Promise((again) => setTimeout(again, LOOK_MS));
  }
}
