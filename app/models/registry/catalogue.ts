import { z } from 'zod';
import { CatalogueModel } from '../../protocol/index.ts';

/** @throws when the file that ships with the app breaks its own schema; a test reads it */
export function readCatalogue(text: string): CatalogueModel[] {
  return z.strictObject({ models: z.array(CatalogueModel) }).parse(JSON.parse(text)).models;
}
