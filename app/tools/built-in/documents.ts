import type { Block, Document, Handlers } from '../../protocol/index.ts';
import { findChat } from '../../store/chats/chats.ts';
import type { Database } from '../../store/database/database.ts';
import { whereOf } from '../../text/location.ts';
import { type CallContext, type Tool, ToolError, textIn } from '../tool.ts';
import { chosenPart, PART_PARAMETER, partsOf } from './parts.ts';

/** The document calls, as the page uses them. */
export type DocumentsAsked = Pick<
  Handlers,
  'documents.search' | 'documents.passage' | 'documents.list' | 'documents.content'
>;

const PASSAGES = 6;
const NAMED = 60;

/** Searches the collections of the chat, or all if it has chosen none. */
export const searchDocuments = (db: Database, asked: DocumentsAsked): Tool => ({
  name: 'search_documents',
  builtIn: true,
  description:
    "Searches the user's documents and returns the passages that fit best, with where they stand. " +
    'Use it for questions about what the user has written or collected.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What is looked for: a question or a few words' } },
    required: ['query'],
  },
  async run(given, context) {
    const query = textIn(given, 'query').slice(0, 2000);
    const collectionIds = collectionsOf(db, context);
    const { hits } = await asked['documents.search']({ query, collectionIds, limit: PASSAGES });
    const names = new Map((await asked['documents.list']({ collectionId: null })).map((one) => [one.id, one.name]));
    const found = hits.map(async ({ passageId, documentId, location }, at) => {
      const { text } = await asked['documents.passage']({ passageId });
      return `[${at + 1}] ${whereOf({ name: names.get(documentId) ?? '', location })}\n${text}`;
    });
    return found.length === 0 ? 'Nothing in the documents fits.' : (await Promise.all(found)).join('\n\n');
  },
});

/** Reads a document, one part at a time. */
export const readDocument = (db: Database, asked: DocumentsAsked): Tool => ({
  name: 'read_document',
  builtIn: true,
  description:
    "Reads one of the user's documents from the beginning, a part at a time. An unknown name brings a list of the names.",
  parameters: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Name of the document or of its file' },
      part: PART_PARAMETER,
    },
    required: ['name'],
  },
  async run(given, context) {
    const wanted = textIn(given, 'name').trim().toLowerCase();
    const chosen = collectionsOf(db, context);
    const all = (await asked['documents.list']({ collectionId: null })).filter(
      ({ collectionId, state }) => state.status === 'ready' && (chosen?.includes(collectionId) ?? true),
    );
    const document =
      all.find((one) => isCalled(one, wanted)) ?? all.find((one) => namesOf(one).some((name) => name.includes(wanted)));
    if (!document) throw new ToolError('arguments', `there is no document "${wanted}"; there are: ${listed(all)}`);
    return chosenPart(partsOf(await blocksOf(asked, document)), given.part, document.name);
  },
});

/** Null: everywhere. */
function collectionsOf(db: Database, { chatId }: CallContext) {
  const chosen = findChat(db, chatId)?.collectionIds ?? [];
  return chosen.length > 0 ? chosen : null;
}

const namesOf = ({ name, fileName }: Document): string[] => [name.toLowerCase(), fileName.toLowerCase()];
const isCalled = (document: Document, wanted: string): boolean => namesOf(document).includes(wanted);

function listed(documents: readonly Document[]): string {
  const names = documents.slice(0, NAMED).map(({ name }) => `"${name}"`);
  return `${names.join(', ') || 'none'}${documents.length > NAMED ? ` and ${documents.length - NAMED} more` : ''}`;
}

async function blocksOf(asked: DocumentsAsked, { id }: Document): Promise<Block[]> {
  const all: Block[] = [];
  for (;;) {
    const from = (all.at(-1)?.number ?? 0) + 1;
    const { blocks } = await asked['documents.content']({ documentId: id, from, limit: 500 });
    if (blocks.length === 0) return all;
    all.push(...blocks);
  }
}
