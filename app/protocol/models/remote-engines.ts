import { z } from 'zod';
import { ModelId, RemoteEngineId, Time } from '../ids.ts';

//  Remote engines: OpenAI-compatible servers as a source of models. None is contacted before the user adds it.

/** Where a remote model runs: host and port, and whether that is this computer. */
export const RemoteRuntime = z.object({
  engineId: RemoteEngineId,
  engine: z.string(),
  host: z.string(),
  here: z.boolean(),
  /** The engine's name for it. */
  model: z.string(),
  /** Tokens, if the engine reports it. */
  contextLength: z.number().int().nullable(),
  /** Whether pictures are sent to it. */
  pictures: z.boolean(),
});
export type RemoteRuntime = z.infer<typeof RemoteRuntime>;

/** A model in the list of an engine. `pictures`: whether it has vision; null if the engine does not say. */
export const ListedModel = z.object({
  model: z.string().min(1).max(300),
  contextLength: z.number().int().min(1).max(1_000_000_000).nullable(),
  pictures: z.boolean().nullable(),
});
export type ListedModel = z.infer<typeof ListedModel>;

export const RemoteEngine = z.object({
  id: RemoteEngineId,
  name: z.string(),
  address: z.string(),
  host: z.string(),
  /** On this computer: nothing leaves it. */
  here: z.boolean(),
  /** Unencrypted connection. */
  plain: z.boolean(),
  /** Whether a key is stored; the key itself is never returned. */
  key: z.boolean(),
  createdAt: Time,
});
export type RemoteEngine = z.infer<typeof RemoteEngine>;

/** Maximum models per engine. */
export const MAX_REMOTE_MODELS = 500;

const name = z.string().trim().min(1).max(60);
const address = z.string().trim().min(1).max(2000);
const key = z.string().max(4000);
const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});
const which = z.object({ engineId: RemoteEngineId });

export const remoteEngineCalls = {
  'remoteEngines.list': call(z.void(), z.array(RemoteEngine)),
  /** Lists the models at an address. Nothing is stored. `engineId`: use its stored key if none is given and the
   *  host is the same. */
  'remoteEngines.test': call(
    z.object({ address, key: key.nullable(), engineId: RemoteEngineId.optional() }),
    z.object({ address: z.string(), host: z.string(), here: z.boolean(), models: z.array(ListedModel) }),
  ),
  /** Adds an engine and these of its models to the library. */
  'remoteEngines.add': call(
    z.object({ name, address, key: key.nullable(), models: z.array(ListedModel).min(1).max(MAX_REMOTE_MODELS) }),
    RemoteEngine,
  ),
  /** Omitted fields stay. Another host needs its key again; models no longer named are removed from the library. */
  'remoteEngines.change': call(
    z.object({
      engineId: RemoteEngineId,
      name: name.optional(),
      address: address.optional(),
      key: key.nullable().optional(),
      models: z.array(ListedModel).min(1).max(MAX_REMOTE_MODELS).optional(),
    }),
    RemoteEngine,
  ),
  /** Removes an engine with its models. Chats they answered stay. */
  'remoteEngines.remove': call(which, z.void()),
  /** Sets whether pictures are sent to a model. */
  'remoteEngines.setPictures': call(z.object({ modelId: ModelId, pictures: z.boolean() }), z.void()),
} as const;

export const remoteEngineEvents = { 'remoteEngines.changed': z.array(RemoteEngine) } as const;
