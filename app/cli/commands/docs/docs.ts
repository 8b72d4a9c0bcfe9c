import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Client, type Collection, type Document, LonghandError } from '../../../protocol/index.ts';
import { locationText, whereOf } from '../../../text/location.ts';
import { table } from '../../runtime/arguments.ts';
import { type Context, command, UsageError } from '../../runtime/command.ts';
import { bytes } from '../../runtime/terminal.ts';
import { withCore } from '../../runtime/with-core.ts';
import { chosen, DOCS_FLAGS, type DocsAction, type DocsValues, embedderNamed } from './docs-arguments.ts';
import { ask } from './docs-ask.ts';
import { until } from './docs-wait.ts';

const ACTIONS: Readonly<Record<string, DocsAction>> = { add, list, search, ask, rm };

//  Exit codes beside those of every command: `search` and `ask` end with 1 when nothing was found, `add` when a file could
//  not be read.
export const docs = command({
  name: 'docs',
  summary: 'Add, list, search, ask or remove documents. They stay on this computer.',
  usage: 'add PATH… | list | search WORDS | ask QUESTION | rm NAME',
  words: [1, 1000],
  flags: DOCS_FLAGS,
  async run(context, values, [action = '', ...words]) {
    const work = ACTIONS[action];
    if (!work) {
      throw new UsageError(`[docs] "${action}" is not an action; actions: ${Object.keys(ACTIONS).join(', ')}`);
    }
    if (action !== 'list' && words.length === 0) throw new UsageError(`[docs] ${action} needs an argument`);
    return withCore(context, values.data, (client) => work(context, client, values, words));
  },
});

async function add(
  { terminal, json, places, signal }: Context,
  client: Client,
  values: DocsValues,
  paths: readonly string[],
): Promise<number> {
  const name = values.collection ?? 'Documents';
  const known = (await client.call('documents.collections')).find((one) => one.name === name);
  const collection = known ?? (await client.call('documents.createCollection', { name }));
  const collectionId = collection.id;
  if (values['embedding-model'] !== undefined) {
    const modelId = await embedderNamed(client, values['embedding-model']);
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
    const reading = await until(client, signal, null, async () => {
      const all = (await client.call('documents.list', { collectionId })).filter(({ id }) => wanted.has(id));
      return all.every(isSettled) ? all : null;
    });
    const documents = await withRemedies(client, signal, values, reading ?? []);
    const indexed = await until(client, signal, STALLED_MS, async () => {
      const { embedding } = collectionWith(await client.call('documents.collections'), collectionId);
      if (!embedding || embedding.done >= embedding.total) return true;
      bar.show(embedding.done, embedding.total);
      return null;
    });
    bar.end();
    if (!indexed) terminal.note('[docs] the embedding model is not responding; indexing continues when Longhand runs');
    if (json) terminal.out(`${JSON.stringify({ collection: name, documents })}\n`);
    else terminal.out(`${table(documents.map(rowOf))}\n`);
    return documents.some(({ state }) => state.status === 'failed') ? 1 : 0;
  } finally {
    stop();
    bar.end();
  }
}

/** Supplies passwords and runs OCR according to the flags. */
async function withRemedies(
  client: Client,
  signal: AbortSignal,
  { password: given, ocr = false }: DocsValues,
  documents: readonly Document[],
): Promise<readonly Document[]> {
  const password = given === '-' ? readFileSync(0, 'utf8').replace(/\r?\n$/, '') : given;
  const remedy = ({ state }: Document) => (state.status === 'failed' ? state.remedy : null);
  const again = documents.filter(
    (one) => (password !== undefined && remedy(one) === 'unlock') || (ocr && remedy(one) === 'ocr'),
  );
  if (again.length === 0) return documents;
  for (const { id: documentId } of again)
    await client.call('documents.retry', { documentId, ocr, ...(password !== undefined && { password }) });
  const wanted = new Set<string>(documents.map(({ id }) => id));
  const settled = await until(client, signal, null, async () => {
    const all = (await client.call('documents.list', {})).filter(({ id }) => wanted.has(id));
    return all.every(isSettled) ? all : null;
  });
  return settled ?? documents;
}

const isSettled = ({ state }: Document): boolean => state.status === 'ready' || state.status === 'failed';

async function list({ terminal, json }: Context, client: Client, values: DocsValues): Promise<number> {
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
  state.status === 'failed'
    ? `failed: ${state.failure.message}`
    : state.status === 'ready'
      ? `${passages} passages`
      : state.status,
];

async function search(
  { terminal, json }: Context,
  client: Client,
  values: DocsValues,
  words: readonly string[],
): Promise<number> {
  const collections = await chosen(client, values.collection);
  const { by, hits } = await client.call('documents.search', {
    query: words.join(' '),
    collectionIds: collections.map(({ id }) => id),
    limit: values.limit ?? 10,
  });
  const documents = new Map((await client.call('documents.list', {})).map((one) => [one.id, one]));
  if (json) {
    // Programs need the whole passage, not an excerpt around the match.
    const passages = await Promise.all(hits.map(({ passageId }) => client.call('documents.passage', { passageId })));
    const whole = hits.map((hit, at) => ({
      ...hit,
      name: documents.get(hit.documentId)?.name ?? '',
      label: locationText(hit.location),
      headings: passages[at]?.headings ?? [],
      text: passages[at]?.text ?? '',
    }));
    terminal.out(`${JSON.stringify({ by, hits: whole })}\n`);
  } else {
    for (const { documentId, location, excerpt } of hits) {
      const name = documents.get(documentId)?.name ?? '';
      terminal.out(`${terminal.bold(whereOf({ name, location }))}\n  ${excerpt}\n`);
    }
    terminal.note(terminal.dim(by === 'words' ? 'searched by words only' : 'searched by words and meaning'));
  }
  return hits.length > 0 ? 0 : 1;
}

async function rm(
  { terminal, json }: Context,
  client: Client,
  values: DocsValues,
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
    throw new LonghandError('not-found', `[docs] ${problem} "${name}"; see longhand docs list`);
  }
  for (const { id } of found) await client.call('documents.remove', { documentId: id });
  terminal.out(
    json
      ? `${JSON.stringify({ removed: found[0]?.name })}\n`
      : `${found[0]?.name} removed; the original file is kept\n`,
  );
  return 0;
}

const collectionWith = (all: readonly Collection[], id: Collection['id']): Collection => {
  const found = all.find((one) => one.id === id);
  if (!found) throw new LonghandError('not-found', '[docs] the collection has been removed');
  return found;
};

/** Without progress for this long, the embedding model is considered missing or broken. */
const STALLED_MS = 60_000;
