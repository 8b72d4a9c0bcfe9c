import type { Block, DocumentKind } from '../../protocol/index.ts';
import type { Source } from '../element.ts';
import type { StartParser } from './fork-parser.ts';
import { createParserClient } from './parser-client.ts';

/** Extracts text of files that are not stored, one by one in a separate process. */
export type FileTexts = {
  /** @throws LonghandError as the document parser */
  read(source: Source, kind: DocumentKind, signal: AbortSignal): Promise<{ title: string | null; blocks: Block[] }>;
  close(): Promise<void>;
};

export function createFileTexts(start: StartParser): FileTexts {
  const reader = createParserClient({ start });
  let last: Promise<unknown> = Promise.resolve();

  async function one(source: Source, kind: DocumentKind, signal: AbortSignal) {
    const blocks: Block[] = [];
    const batch = (more: { blocks: Block[] }) => void blocks.push(...more.blocks);
    const { metadata } = await reader.read(source, kind, { batch, progress: () => {} }, signal);
    return { title: metadata.title, blocks };
  }

  return {
    read(source, kind, signal) {
      const next = last.then(() => one(source, kind, signal));
      last = next.catch(() => {});
      return next;
    },
    close: reader.close,
  };
}
