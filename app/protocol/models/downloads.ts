import { z } from 'zod';
import { ErrorCode, FailureReason } from '../errors.ts';

/** Progress of a download. `done` and `total` are bytes of all its files. */
export const DownloadStatus = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('queued') }),
  z.object({ phase: z.literal('running'), rate: z.number().nullable(), secondsLeft: z.number().nullable() }),
  z.object({ phase: z.literal('paused') }),
  z.object({ phase: z.literal('waitingForNetwork'), attempt: z.number().int(), reason: z.string() }),
  z.object({ phase: z.literal('waitingForSpace'), missing: z.number() }),
  /** The library is being moved, or its drive is not mounted: resumes automatically. */
  z.object({ phase: z.literal('waitingForLibrary'), reason: z.enum(['moving', 'unmounted']) }),
  /** The file on the server has changed. The part of the old one is kept until the user decides. */
  z.object({ phase: z.literal('changed') }),
  z.object({ phase: z.literal('checking'), checked: z.number() }),
  z.object({ phase: z.literal('repairing'), damaged: z.number() }),
  z.object({ phase: z.literal('failed'), code: z.union([FailureReason, ErrorCode]), message: z.string() }),
]);
export type DownloadStatus = z.infer<typeof DownloadStatus>;

export const Download = z.object({
  id: z.string(),
  name: z.string(),
  source: z.string(),
  repository: z.string(),
  /** The quantisation or format, as in the file names. */
  variant: z.string(),
  done: z.number(),
  total: z.number(),
  status: DownloadStatus,
});
export type Download = z.infer<typeof Download>;

/** A desktop notification about a download: it is complete, or needs attention. */
export type DownloadNotification = { name: string; kind: 'arrived' | 'failed' | 'waitingForSpace' | 'changed' };
