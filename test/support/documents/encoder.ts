import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { DocumentsOptions } from '../../../app/documents/service.ts';
import { createEngine } from '../../../app/engine/client/engine-client.ts';
import type { ModelId } from '../../../app/protocol/index.ts';
import { realEngine } from '../core/core.ts';
import { realModel } from '../models/real-models.mjs';

export const MINILM = 'minilm' as ModelId;

/** The real engine process with all-MiniLM-L6-v2, as documents use it. */
export async function meaning(): Promise<Pick<DocumentsOptions, 'engine' | 'embedders'>> {
  const path = await realModel('minilm');
  const engine = createEngine({ startEngine: realEngine(), onStatus: () => {} });
  onTestFinished(() => engine.close());
  return {
    engine,
    embedders: {
      find: () => ({ target: { path, device: null, threads: null }, name: 'all-MiniLM-L6-v2' }),
      preset: MINILM,
      reranker: () => null,
      qaReranker: join(import.meta.dirname, '../../../resources/reader'),
    },
  };
}
