import { z } from 'zod';

/** How closely a model looks: at most 256, 1,024 or 4,096 tokens a picture. */
export const PictureDetail = z.enum(['fast', 'normal', 'fine']);
export type PictureDetail = z.infer<typeof PictureDetail>;
