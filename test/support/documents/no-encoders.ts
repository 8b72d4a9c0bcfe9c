import type { DocumentsOptions } from '../../../app/documents/service.ts';
import { LonghandError } from '../../../app/protocol/index.ts';

const none = (): never => {
  throw new LonghandError('model-missing', '[test] there is no encoder');
};

/** For documents that are searched by keywords alone. */
export const noEncoders: Pick<DocumentsOptions, 'engine' | 'embedders'> = {
  engine: { ask: async () => none() } as unknown as DocumentsOptions['engine'],
  embedders: { find: none, preset: null, reranker: () => null, qaReranker: null },
};
