import { z } from 'zod';

/** How closely a model looks: at most 256 tokens a picture, 1,024, or as many as its makers allow. */
export const PictureDetail = z.enum(['fast', 'normal', 'fine']);
export type PictureDetail = z.infer<typeof PictureDetail>;
