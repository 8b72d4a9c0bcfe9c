import { basename } from 'node:path';
import type { Headers } from '../../engine/ipc-protocol.ts';
import { LonghandError, type ModelDescription, type RemoteModel, type Variant } from '../../protocol/index.ts';
import { asFailure } from '../network/error-mapping.ts';
import type { Via } from '../network/request-purpose.ts';
import { readReference } from './model-reference.ts';
import { folderLabel, type Offer, offersOf, scaled, suggested } from './quantisations.ts';
import { FOLDER, type RemoteHeaders, readRemoteHeaders } from './remote-headers.ts';
import type { Repository, Source } from './source.ts';
import type { SourceRegistry } from './source-registry.ts';

//  Inspects a remote model before downloading its weights: the repository is pinned, headers are read by range
//  requests, and the engine describes it as it would describe local files.

export type Inspection = { variant: Variant; headers: RemoteHeaders };

export type RemoteInspector = {
  look(reference: string, variantId: string | undefined): Promise<RemoteModel>;
  /** One variant with its exact description and files. */
  inspect(reference: string, variantId: string | undefined): Promise<Inspection & { repository: Repository }>;
  /** The current version of the same variant. */
  inspectNewest(source: Source, name: string, variantId: string): Promise<Inspection & { repository: Repository }>;
};

export type RemoteInspectorOptions = {
  sources: SourceRegistry;
  net: Via;
  /** The engine's description of headers. */
  verdict: (headers: Headers) => Promise<ModelDescription>;
};

const LOOK_MS = 60_000;
/** Cache of recent repositories: choosing another variant does not list the files again. */
const MAX_ENTRIES = 32;
const CACHE_MS = 10 * 60_000;

type Known = { repository: Repository; source: Source; file: string | null; at: number; seen: Map<string, Inspection> };

export function createRemoteInspector({ sources, net, verdict }: RemoteInspectorOptions): RemoteInspector {
  const known = new Map<string, Known>();

  async function open(reference: string): Promise<Known> {
    const cached = known.get(reference);
    if (cached && Date.now() - cached.at < CACHE_MS) return cached;
    const { source, name, revision, file } = placeOf(reference, sources);
    const entry = await ask(source, name, revision, file);
    known.delete(reference);
    known.set(reference, entry);
    for (const [oldest] of known) if (known.size > MAX_ENTRIES) known.delete(oldest);
    return entry;
  }

  async function ask(source: Source, name: string, revision: string | null, file: string | null): Promise<Known> {
    const repository = await source
      .repository(name, revision, AbortSignal.timeout(LOOK_MS))
      .catch((error) => Promise.reject(asFailure(error)));
    return { repository, source, file, at: Date.now(), seen: new Map() };
  }

  async function inspectOffer(entry: Known, offer: Offer): Promise<Inspection> {
    const cached = entry.seen.get(offer.id);
    if (cached) return cached;
    const { repository } = entry;
    const via = net({ reason: 'look', about: repository.name });
    const headers = await readRemoteHeaders(repository, offer.id, AbortSignal.timeout(LOOK_MS), via).catch((error) =>
      Promise.reject(asFailure(error)),
    );
    const { config, tensors, container } = headers;
    const description = await verdict({ config, tensors, container });
    const bytes = headers.files.reduce((sum, file) => sum + file.size, 0);
    const label = offer.label === '' ? folderLabel(description) : offer.label;
    const inspection: Inspection = {
      headers,
      variant: { id: offer.id, label, kind: container, bytes, description, exact: true },
    };
    entry.seen.set(offer.id, inspection);
    return inspection;
  }

  function choose(entry: Known, variantId: string | undefined): { offers: Offer[]; offer: Offer } {
    const offers = offersOf(entry.repository);
    const wanted = variantId ?? entry.file;
    const offer = wanted ? offers.find(({ id }) => id === wanted) : suggested(offers);
    if (offer) return { offers, offer };
    throw new LonghandError(
      'not-found',
      wanted
        ? `[models] ${entry.repository.name} has no ${wanted}; it has ${offers.map(({ id }) => id).join(', ')}`
        : `[models] ${entry.repository.name} has neither a .gguf file nor config.json with .safetensors`,
      { details: { reason: 'no-model' } },
    );
  }

  return {
    async look(reference, variantId) {
      const entry = await open(reference);
      const { offers, offer } = choose(entry, variantId);
      const exact = await inspectOffer(entry, offer);
      const { source, name, commit, gated } = entry.repository;
      const variants = offers.map((other) => entry.seen.get(other.id)?.variant ?? likely(other, exact.variant));
      return { reference, source, host: entry.source.host, repository: name, commit, gated, variants };
    },
    async inspect(reference, variantId) {
      const entry = await open(reference);
      const { offer } = choose(entry, variantId);
      return { repository: entry.repository, ...(await inspectOffer(entry, offer)) };
    },
    async inspectNewest(source, name, variantId) {
      const entry = await ask(source, name, null, null);
      return { repository: entry.repository, ...(await inspectOffer(entry, choose(entry, variantId).offer)) };
    },
  };
}

/** Estimates a variant whose headers have not been read, by its size. */
function likely(offer: Offer, from: Variant): Variant {
  return {
    id: offer.id,
    label: offer.label,
    kind: offer.id === FOLDER ? 'safetensors' : 'gguf',
    bytes: offer.bytes,
    description: scaled(from.description, from.bytes, offer.bytes),
    exact: false,
  };
}

/** @throws LonghandError `bad-request` if the text is not a known kind of reference */
function placeOf(text: string, sources: SourceRegistry) {
  const reference = readReference(text);
  if (reference?.kind === 'path') {
    return { source: needed(sources, 'folder'), name: reference.path, revision: null, file: ggufIn(reference.path) };
  }
  if (reference === null) {
    throw new LonghandError(
      'bad-request',
      `[models] ${JSON.stringify(text.slice(0, 200))} is not a model; expected org/name, a page of a hub or the address of a file`,
      { details: { reason: 'bad-reference' } },
    );
  }
  if (reference.kind === 'url') {
    return { source: needed(sources, 'url'), name: reference.url, revision: null, file: null };
  }
  const { name, revision, file } = reference;
  return {
    source: reference.source === 'huggingface' ? sources.hub() : needed(sources, reference.source),
    name,
    revision,
    file,
  };
}

/** A path may name one of the GGUF files of its folder. */
const ggufIn = (path: string): string | null => (path.toLowerCase().endsWith('.gguf') ? basename(path) : null);

function needed(sources: SourceRegistry, id: 'url' | 'modelscope' | 'folder'): Source {
  const source = sources.byId(id);
  if (!source) throw new LonghandError('internal', `[models] no source ${id}`);
  return source;
}
