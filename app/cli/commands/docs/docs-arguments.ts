import { builtInEmbedder, type Client, type Collection, LonghandError, type ModelId } from '../../../protocol/index.ts';
import type { Context, Flags, Values } from '../../runtime/command.ts';
import { DATA_FLAG } from '../../runtime/with-core.ts';

//  Parsing of the arguments of `longhand docs`.

export const DOCS_FLAGS = {
  ...DATA_FLAG,
  collection: { kind: 'text', value: 'NAME', help: 'collection (default: "Documents" for add, otherwise all)' },
  'embedding-model': {
    kind: 'text',
    was: 'encoder',
    value: 'NAME',
    help: 'add: embedding model for this collection (default: all-MiniLM-L6-v2, built in), or "none"',
  },
  model: { kind: 'text', value: 'NAME', help: 'ask: model that answers (default: the one the app uses)' },
  'no-model': { kind: 'yes', help: 'ask: show only the quote and its sources, without an answer from a model' },
  password: {
    kind: 'text',
    value: 'TEXT',
    help: 'add: password for protected files; used once, never stored; "-" reads it from stdin',
  },
  ocr: { kind: 'yes', help: 'add: recognise the text of scanned pages' },
  temperature: { kind: 'number', value: 'T', help: 'ask: 0 (default) gives the same answer every time' },
  seed: { kind: 'count', value: 'S', help: 'ask: with a temperature, the same seed gives the same answer' },
  limit: { kind: 'count', value: 'N', help: 'search: maximum number of passages (default: 10)' },
} as const satisfies Flags;

export type DocsValues = Values<typeof DOCS_FLAGS>;

/** An action of `longhand docs`. Returns the exit code. */
export type DocsAction = (
  context: Context,
  client: Client,
  values: DocsValues,
  words: readonly string[],
) => Promise<number>;

/** The named collection, or else all of the user's; the manual only if there are no others. @throws LonghandError `not-found` with the names there are */
export async function chosen(client: Client, name: string | undefined): Promise<Collection[]> {
  const all = await client.call('documents.collections');
  const own = all.filter(({ builtIn }) => !builtIn);
  if (name === undefined) return own.length > 0 ? own : all;
  const named = all.filter((one) => one.name === name || one.id === name);
  if (named.length > 0) return named;
  const names = all.map((one) => one.name).join(', ') || 'none yet';
  throw new LonghandError('not-found', `[docs] no collection "${name}"; collections: ${names}`);
}

/** Null for "none". @throws LonghandError `not-found` with the names there are */
export async function embedderNamed(client: Client, name: string): Promise<ModelId | null> {
  if (name === 'none') return null;
  return name === builtInEmbedder.name ? builtInEmbedder.id : modelNamed(client, name);
}

/** @throws LonghandError `not-found` with the names there are */
export async function modelNamed(client: Client, name: string): Promise<ModelId> {
  const models = await client.call('models.list');
  const found = models.find((model) => model.name === name || model.id === name || model.path === name);
  if (found) return found.id;
  const names = models.map((model) => model.name).join(', ');
  throw new LonghandError('not-found', `[docs] no model "${name}"; models: ${names}`);
}
