import { z } from 'zod';
import { AttachmentId } from '../ids.ts';

export const Attachment = z.object({
  id: AttachmentId,
  name: z.string(),
  bytes: z.number().int(),
  /** For pictures: tokens for a model with vision. */
  tokens: z.number().int().nullable(),
  /** Upright size in pixels; null: a text. */
  picture: z.object({ width: z.number().int(), height: z.number().int() }).nullable().default(null),
});
export type Attachment = z.infer<typeof Attachment>;
