import { z } from 'zod';
import { Time } from '../ids.ts';

/** Whom Longhand spoke to and why, or who was refused: one row a day, host and reason. */
export const NetworkLogEntry = z.object({
  /** Of the last time. */
  at: Time,
  allowed: z.boolean(),
  host: z.string(),
  reason: z.enum([
    'search',
    'look', // headers and lists of files
    'download',
    'page', // the page wanted something from the network, for example a picture in an answer
    'tool', // a tool of another program was called
    'site', // a model read a page of a site that was allowed
    'engine', // an engine elsewhere was asked
    'visitor', // another page or program asked the local server
  ]),
  /** What was asked for: the name of a model, the words of a search. */
  about: z.string(),
  requestCount: z.number().int(),
  bytes: z.number(),
});
export type NetworkLogEntry = z.infer<typeof NetworkLogEntry>;
