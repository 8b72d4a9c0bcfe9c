import { z } from 'zod';
import { Failure } from '../errors.ts';

//  The location of the library, and moving it to another folder or disk.
//
//  at rest ──move──▶ copying ◀──▶ paused, stopped      copying ──all read again──▶ switching ──▶ clearing ──▶ at rest
//                       └──────────cancel──────────▶ clearing (of the copy)

export const LibraryMove = z.object({
  from: z.string(),
  to: z.string(),
  /** Bytes copied and verified. */
  done: z.number(),
  total: z.number(),
  status: z.discriminatedUnion('phase', [
    z.object({ phase: z.literal('copying') }),
    z.object({ phase: z.literal('paused') }),
    /** Nothing is lost: the user can resume it. */
    z.object({ phase: z.literal('stopped'), failure: Failure }),
    z.object({ phase: z.literal('switching') }),
    /** Deletes unused files in `from`, after running answers end. */
    z.object({ phase: z.literal('clearing') }),
    /** The same, but its drive is not mounted. */
    z.object({ phase: z.literal('clearingLater') }),
  ]),
});
export type LibraryMove = z.infer<typeof LibraryMove>;

export const Library = z.object({
  folder: z.string(),
  /** The default location, in the data folder. */
  home: z.string(),
  /** Its drive is not mounted. */
  unmounted: z.boolean(),
  move: LibraryMove.nullable(),
});
export type Library = z.infer<typeof Library>;

/** What a move would involve. */
export const LibraryPlan = z.object({
  /** The new location: the chosen folder, or a subfolder if that is not empty. */
  folder: z.string(),
  bytes: z.number(),
  /** Additional bytes because the volume has no hard links, which the library uses. */
  more: z.number(),
  /** False on the same volume, where files are only renamed. */
  copies: z.boolean(),
  free: z.number(),
  missing: z.number(),
});
export type LibraryPlan = z.infer<typeof LibraryPlan>;
