import { z } from 'zod';
import { ElsewhereId, ModelId, Time } from '../ids.ts';

//  Engines elsewhere: servers of others that speak the dialect of OpenAI, as a source of models. None is asked before it was added.

/** Where a model runs that runs elsewhere: the host with its port, and whether that is this computer itself. */
export const RunsElsewhere = z.object({
  engineId: ElsewhereId,
  engine: z.string(),
  host: z.string(),
  here: z.boolean(),
  /** As its engine calls it. */
  model: z.string(),
  /** Tokens, where the engine says so. */
  contextLength: z.number().int().nullable(),
  /** Pictures are sent to it. */
  pictures: z.boolean(),
});
export type RunsElsewhere = z.infer<typeof RunsElsewhere>;

/** A model as an engine lists it. `pictures`: whether it sees; null where the engine does not say. */
export const ListedModel = z.object({
  model: z.string().min(1).max(300),
  contextLength: z.number().int().min(1).max(1_000_000_000).nullable(),
  pictures: z.boolean().nullable(),
});
export type ListedModel = z.infer<typeof ListedModel>;

export const Elsewhere = z.object({
  id: ElsewhereId,
  name: z.string(),
  address: z.string(),
  host: z.string(),
  /** It is a program of this computer: nothing leaves it. */
  here: z.boolean(),
  /** What is sent can be read on its way. */
  plain: z.boolean(),
  /** A key is stored for it, which never comes back. */
  key: z.boolean(),
  createdAt: Time,
});
export type Elsewhere = z.infer<typeof Elsewhere>;

/** Models of one engine that can be used. */
export const MAX_ELSEWHERE_MODELS = 500;

const name = z.string().trim().min(1).max(60);
const address = z.string().trim().min(1).max(2000);
const key = z.string().max(4000);
const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});
const which = z.object({ engineId: ElsewhereId });

export const elsewhereCalls = {
  'elsewhere.engines': call(z.void(), z.array(Elsewhere)),
  /** Asks an address for its models. Nothing is kept. `engineId`: with the key that is stored for it, where none is given and the
   *  address is still the same host. */
  'elsewhere.test': call(
    z.object({ address, key: key.nullable(), engineId: ElsewhereId.optional() }),
    z.object({ address: z.string(), host: z.string(), here: z.boolean(), models: z.array(ListedModel) }),
  ),
  /** Puts an engine and these of its models in the list. */
  'elsewhere.add': call(
    z.object({ name, address, key: key.nullable(), models: z.array(ListedModel).min(1).max(MAX_ELSEWHERE_MODELS) }),
    Elsewhere,
  ),
  /** What is left out stays. An address of another host needs its key anew; models that are no longer named leave the list. */
  'elsewhere.change': call(
    z.object({
      engineId: ElsewhereId,
      name: name.optional(),
      address: address.optional(),
      key: key.nullable().optional(),
      models: z.array(ListedModel).min(1).max(MAX_ELSEWHERE_MODELS).optional(),
    }),
    Elsewhere,
  ),
  /** With its models. Chats that were answered by them stay. */
  'elsewhere.remove': call(which, z.void()),
  /** Whether pictures are sent to a model. */
  'elsewhere.setPictures': call(z.object({ modelId: ModelId, pictures: z.boolean() }), z.void()),
} as const;

export const elsewhereEvents = { 'elsewhere.changed': z.array(Elsewhere) } as const;
