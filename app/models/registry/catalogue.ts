import { z } from 'zod';
import { CatalogueModel } from '../../protocol/index.ts';

/** @throws if the built-in file does not match its schema, which a test checks */
export function readCatalogue(text: string): CatalogueModel[] {
  return z.strictObject({ models: z.array(CatalogueModel) }).parse(JSON.parse(text)).models;
}
