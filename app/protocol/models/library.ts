import { z } from 'zod';
import { Failure } from '../errors.ts';

//  Where the models are, and how they move to another folder or disk.
//
//  at rest ──move──▶ copying ◀──▶ paused, stopped      copying ──all read again──▶ switching ──▶ clearing ──▶ at rest
//                       └──────────cancel──────────▶ clearing (of the copy)

export const LibraryMove = z.object({
  from: z.string(),
  to: z.string(),
  /** Bytes that were copied and read again. */
  done: z.number(),
  total: z.number(),
  status: z.discriminatedUnion('phase', [
    z.object({ phase: z.literal('copying') }),
    z.object({ phase: z.literal('paused') }),
    /** Nothing is lost: it goes on when it is asked to. */
    z.object({ phase: z.literal('stopped'), failure: Failure }),
    z.object({ phase: z.literal('switching') }),
    /** What is not used any more is deleted in `from`; a running answer is waited for. */
    z.object({ phase: z.literal('clearing') }),
    /** The same, and its drive is away. */
    z.object({ phase: z.literal('clearingLater') }),
  ]),
});
export type LibraryMove = z.infer<typeof LibraryMove>;

export const Library = z.object({
  folder: z.string(),
  /** Where it is by itself: in the data folder. */
  home: z.string(),
  /** Its drive is not there. */
  unmounted: z.boolean(),
  move: LibraryMove.nullable(),
});
export type Library = z.infer<typeof Library>;

/** What a move would take, told before it begins. */
export const LibraryPlan = z.object({
  /** Where it would be: the chosen folder, or one in it when that holds something. */
  folder: z.string(),
  bytes: z.number(),
  /** Those of them that are copied again: the volume keeps no file under two names, as the library does with each. */
  more: z.number(),
  /** False on the same volume, where nothing has to be copied. */
  copies: z.boolean(),
  free: z.number(),
  missing: z.number(),
});
export type LibraryPlan = z.infer<typeof LibraryPlan>;
