import { z } from 'zod';
import { Time } from '../ids.ts';

/** Hosts contacted and why, or refused: one row per day, host and reason. */
export const NetworkLogEntry = z.object({
  /** The last time. */
  at: Time,
  allowed: z.boolean(),
  host: z.string(),
  reason: z.enum([
    'search',
    'look', // headers and lists of files
    'download',
    'page', // blocked: the page tried to load something, for example a picture in an answer
    'tool', // a tool of another program was called
    'site', // a model fetched a page of an allowed site
    'engine', // a request to a remote engine
    'visitor', // refused by the local server
  ]),
  /** The subject: the name of a model, the words of a search. */
  about: z.string(),
  requestCount: z.number().int(),
  bytes: z.number(),
});
export type NetworkLogEntry = z.infer<typeof NetworkLogEntry>;
