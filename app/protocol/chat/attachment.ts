import { z } from 'zod';
import { AttachmentId } from '../ids.ts';

export const Attachment = z.object({
  id: AttachmentId,
  name: z.string(),
  bytes: z.number().int(),
  /** Of a picture: for a model that sees. */
  tokens: z.number().int().nullable(),
  /** In pixels, upright; null: a text. */
  picture: z.object({ width: z.number().int(), height: z.number().int() }).nullable().default(null),
});
export type Attachment = z.infer<typeof Attachment>;
