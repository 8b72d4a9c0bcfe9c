import { z } from 'zod';
import { ErrorCode, Failure } from './errors.ts';
import { CollectionId, DocumentId, ModelId, PassageId, Time } from './ids.ts';

/** A rectangle on a page, in points (1/72 inch) from its upper left corner, in the page's own rotation:
 *  [x, y, width, height]. */
export const Rectangle = z.tuple([z.number(), z.number(), z.number(), z.number()]);
export type Rectangle = z.infer<typeof Rectangle>;

/** Characters [start, end) of the text of a block of `documents.content`. */
const inBlock = {
  block: z.number().int(),
  start: z.number().int().optional(),
  end: z.number().int().optional(),
};

/** The position of a piece of text in its document. Pages, slides, lines and blocks count from 1. */
export const Place = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('page'),
    page: z.number().int(),
    rectangles: z.array(Rectangle),
  }),
  z.object({ kind: z.literal('block'), ...inBlock }),
  z.object({ kind: z.literal('cells'), sheet: z.string(), range: z.string(), ...inBlock }),
  z.object({ kind: z.literal('slide'), slide: z.number().int(), ...inBlock }),
  /** Lines of the file, and the block that shows them. */
  z.object({
    kind: z.literal('lines'),
    from: z.number().int(),
    to: z.number().int(),
    ...inBlock,
    block: z.number().int().optional(),
  }),
]);
export type Place = z.infer<typeof Place>;

/** Characters [start, end) of a passage and their position. Spans are in order and do not overlap. */
export const Span = z.object({
  start: z.number().int(),
  end: z.number().int(),
  place: Place,
});
export type Span = z.infer<typeof Span>;

export const DocumentKind = z.enum([
  'pdf',
  'docx',
  'xlsx',
  'pptx',
  'epub',
  'html',
  'markdown',
  'text',
  'csv',
  'json',
  'code',
  'email',
  'image',
]);
export type DocumentKind = z.infer<typeof DocumentKind>;

//  queued ─▶ reading (file, ocr, index) ─▶ ready          any ──▶ failed ──remedy──▶ queued
export const DocumentState = z.discriminatedUnion('status', [
  z.object({ status: z.literal('queued') }),
  /** `done` of `total` pages (or parts). */
  z.object({
    status: z.literal('reading'),
    step: z.enum(['file', 'ocr', 'index']),
    done: z.number(),
    total: z.number(),
  }),
  z.object({ status: z.literal('ready') }),
  z.object({
    status: z.literal('failed'),
    failure: Failure,
    remedy: z.enum(['unlock', 'ocr', 'retry', 'none']),
  }),
]);
export type DocumentState = z.infer<typeof DocumentState>;

/** Something that was left out of a document or guessed on import. `code` names its sentence (strings `documents.notice.<code>`), and
 *  `details` fill it; a `count` there chooses between one and many. */
export const DocumentNotice = z.object({
  code: z.enum([
    'no-text',
    'characters-cut', // millions
    'cells-cut', // limit
    'pages-cut', // limit, pages
    'page-cut', // limit, page
    'pages-broken', // pages, count
    'pages-silent', // pages, count: image-only pages
    'pages-recognised', // pages, count
    'pages-recognised-english', // the same, but OCR lacks the language
    'picture-uncertain',
    'encoding-guessed', // encoding
    'laid-out', // lines too long to be shown
    'tracked-changes',
    'hidden-text',
    'comments',
    'attachments', // names
    'told', // text: a notice of an earlier version
  ]),
  details: z.record(z.string(), z.union([z.string(), z.number()])),
});
export type DocumentNotice = z.infer<typeof DocumentNotice>;

/** Why a watched folder is not watched, or only in part. */
export const FolderProblem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('failed'), code: ErrorCode }),
  /** Links that lead out of it and are ignored. */
  z.object({ kind: z.literal('links'), count: z.number().int(), first: z.string() }),
]);
export type FolderProblem = z.infer<typeof FolderProblem>;

export const Document = z.object({
  id: DocumentId,
  collectionId: CollectionId,
  /** Its title, or else its file name. */
  name: z.string(),
  fileName: z.string(),
  kind: DocumentKind,
  bytes: z.number(),
  addedAt: Time,
  /** Pages, slides, sheets or chapters; null if it has none. */
  pages: z.number().int().nullable(),
  passages: z.number().int(),
  state: DocumentState,
  /** Its path in a watched folder. A copy is stored in the data folder in any case. */
  watchedPath: z.string().nullable(),
  notices: z.array(DocumentNotice),
});
export type Document = z.infer<typeof Document>;

export const Collection = z.object({
  id: CollectionId,
  name: z.string(),
  /** "About Longhand": ships with the app, cannot be changed. */
  builtIn: z.boolean(),
  createdAt: Time,
  documents: z.number().int(),
  passages: z.number().int(),
  folders: z.array(z.object({ path: z.string(), problem: FolderProblem.nullable() })),
  /** null: keyword search only. While `done` < `total` the index is being built; search works meanwhile. */
  embedding: z
    .object({
      modelId: ModelId,
      name: z.string(),
      done: z.number().int(),
      total: z.number().int(),
    })
    .nullable(),
});
export type Collection = z.infer<typeof Collection>;

/** One piece of a document that fits a prompt. */
export const Passage = z.object({
  id: PassageId,
  documentId: DocumentId,
  /** Its number in the document, from 1. */
  number: z.number().int(),
  text: z.string(),
  /** The headings above it, outermost first. */
  headings: z.array(z.string()),
  spans: z.array(Span),
});
export type Passage = z.infer<typeof Passage>;

/** The location of a text in its document. Pages, slides, lines and blocks count from 1; `range` is a range of a sheet, "B4:D9". */
export const Location = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('page'), page: z.number().int() }),
  z.object({ kind: z.literal('slide'), slide: z.number().int() }),
  z.object({ kind: z.literal('line'), line: z.number().int() }),
  z.object({ kind: z.literal('block'), block: z.number().int() }),
  z.object({ kind: z.literal('cells'), range: z.string() }),
]);
export type Location = z.infer<typeof Location>;

/** Highlights are [start, end) in characters of `excerpt`. */
export const PassageHit = z.object({
  passageId: PassageId,
  documentId: DocumentId,
  location: Location.nullable(),
  excerpt: z.string(),
  highlights: z.array(z.tuple([z.number().int(), z.number().int()])),
  score: z.number(),
});
export type PassageHit = z.infer<typeof PassageHit>;

/** A passage in the prompt, with its citation number. The text is stored with the answer, so that it can be
 *  shown when the document has gone. */
export const Source = z.object({
  number: z.number().int().min(1),
  passageId: PassageId,
  documentId: DocumentId,
  collectionId: CollectionId,
  name: z.string(),
  location: Location.nullable(),
  text: z.string(),
  spans: z.array(Span),
  cited: z.boolean(),
});
export type Source = z.infer<typeof Source>;

/** How well a sentence of an answer, characters [start, end), is supported by its sources. `source`: the number of the best one. */
export const ClaimCheck = z.object({
  start: z.number().int(),
  end: z.number().int(),
  level: z.enum(['supported', 'weak', 'none']),
  source: z.number().int().nullable(),
  /** The supporting characters [start, end) of that source's text. */
  evidence: z.tuple([z.number().int(), z.number().int()]).nullable(),
});
export type ClaimCheck = z.infer<typeof ClaimCheck>;

/** The best answer in a source, characters [start, end) of its text. Found without the model, so it is independent of
 *  what the model says. */
export const Quote = z.object({
  source: z.number().int(),
  start: z.number().int(),
  end: z.number().int(),
  /** Where the quote begins; the source's own location is that of its passage. */
  location: Location.nullable(),
  /** Names of other documents that say the same; this one is the newest. */
  alsoIn: z.array(z.string()).optional(),
});
export type Quote = z.infer<typeof Quote>;

/** The sources of an answer. `found` false: nothing relevant enough, so the model was not asked. */
export const Grounding = z.object({
  found: z.boolean(),
  /** The kind of search. */
  by: z.enum(['words', 'words-and-meaning', 'whole-documents']),
  /** The search query, if it was expanded with earlier messages. */
  question: z.string(),
  sources: z.array(Source),
  support: z.array(ClaimCheck),
  /** Null if no single sentence could answer ("summarise"). If nothing was found: the closest sentence. */
  quote: Quote.nullable(),
});
export type Grounding = z.infer<typeof Grounding>;

export type Quoted = { text: string; source: Source; location: Location | null };

/** The quote in one line with its document and location; null if there is none. */
export const quotedIn = (grounding: Grounding | null | undefined): Quoted | null =>
  grounding?.found ? quoteOf(grounding) : null;

/** The same for the closest sentence if nothing was found. */
export const closestIn = (grounding: Grounding | null | undefined): Quoted | null =>
  grounding && !grounding.found ? quoteOf(grounding) : null;

function quoteOf({ quote, sources }: Grounding): Quoted | null {
  const source = quote && sources.find(({ number }) => number === quote.source);
  const text = source ? source.text.slice(quote.start, quote.end).replace(/\s+/g, ' ').trim() : '';
  return source && text !== '' ? { text, source, location: quote.location } : null;
}

const DENIES =
  /^(?:(?:i(?:['’]m| am) )?(?:sorry|afraid)[,.]? (?:but )?)?(?:i (?:could not|couldn['’]t|cannot|can['’]t|can not|did not|didn['’]t|do not|don['’]t|was (?:not able|unable) to) (?:find|see|have) (?:that|this|it|the answer|an? answer|any|anything|(?:the |enough )?information|a mention|details)|(?:there is |i have )?no (?:answer|information|mention)|(?:the|your|these) (?:passages?|documents?|text|sources?) (?:do(?:es)? not|don['’]t|doesn['’]t) (?:contain|mention|say|state|answer|provide))\b/i;
const LONGEST_DENIAL = 160;
type MaybeQuoted = { text: string; grounding: Grounding | null; usage: { answerTokens: number } | null };
const CITATIONS = /\[\d{1,3}\]/g;

/** Whether the quote is shown alone: because it is the answer and no model was asked, or because the
 *  answer merely says that nothing was found. Null: the answer has content of its own. Text of a model was seen while it
 *  was written, so it stays even if it is identical. */
export function quoteStandsAlone({ text, grounding, usage }: MaybeQuoted): 'quoted' | 'denied' | null {
  const quoted = quotedIn(grounding);
  if (!quoted) return null;
  const said = text.replace(CITATIONS, '').trim();
  if (!usage?.answerTokens && said === quoted.text.replace(CITATIONS, '').trim()) return 'quoted';
  return said.length <= LONGEST_DENIAL && DENIES.test(said) ? 'denied' : null;
}

/** A readable block of a document that is not shown as pages. Text is plain; `level` 1-6 for headings. */
export const Block = z.object({
  number: z.number().int(),
  kind: z.enum(['heading', 'paragraph', 'item', 'quote', 'code', 'row', 'slide', 'sheet', 'rule']),
  level: z.number().int().optional(),
  text: z.string(),
  /** Cells of a table row; `text` joins them with " | ". */
  cells: z.array(z.string()).optional(),
});
export type Block = z.infer<typeof Block>;

const nothing = z.void();
const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});

export const documentCalls = {
  'documents.collections': call(nothing, z.array(Collection)),
  'documents.createCollection': call(z.object({ name: z.string().trim().min(1).max(200) }), Collection),
  'documents.renameCollection': call(
    z.object({
      collectionId: CollectionId,
      name: z.string().trim().min(1).max(200),
    }),
    Collection,
  ),
  'documents.deleteCollection': call(z.object({ collectionId: CollectionId }), nothing),
  'documents.restoreCollection': call(z.object({ collectionId: CollectionId }), Collection),
  /** Watches a folder: additions, changes, renames and removals are mirrored. */
  'documents.watch': call(z.object({ collectionId: CollectionId, path: z.string().min(1) }), Collection),
  'documents.unwatch': call(z.object({ collectionId: CollectionId, path: z.string().min(1) }), Collection),
  /** The encoder for semantic search in this collection; null: keywords only. */
  'documents.setEmbedding': call(z.object({ collectionId: CollectionId, modelId: ModelId.nullable() }), Collection),

  'documents.list': call(z.object({ collectionId: CollectionId.nullable().default(null) }), z.array(Document)),
  /** Files and folders by path; in the browser, uploads by name. Duplicates are not added again. */
  'documents.add': call(
    z.object({
      collectionId: CollectionId,
      files: z
        .array(z.object({ path: z.string().min(1), name: z.string() }))
        .min(1)
        .max(10_000),
    }),
    z.array(Document),
  ),
  /** Retries a failed document, with what it was missing. */
  'documents.retry': call(
    z.object({
      documentId: DocumentId,
      password: z.string().optional(),
      ocr: z.boolean().default(false),
    }),
    Document,
  ),
  'documents.remove': call(z.object({ documentId: DocumentId }), nothing),
  'documents.restore': call(z.object({ documentId: DocumentId }), Document),

  /** Best first. `collectionIds` null: everywhere. */
  'documents.search': call(
    z.object({
      query: z.string().max(2000),
      collectionIds: z.array(CollectionId).nullable().default(null),
      documentId: DocumentId.optional(),
      limit: z.number().int().min(1).max(500).default(50),
    }),
    z.object({
      by: z.enum(['words', 'words-and-meaning']),
      hits: z.array(PassageHit),
    }),
  ),
  /** Answers a question without a model: the quote and its sources, deterministically. */
  'documents.ask': call(
    z.object({ question: z.string().trim().min(1).max(2000), collectionIds: z.array(CollectionId).min(1).max(1000) }),
    Grounding,
  ),
  'documents.passage': call(z.object({ passageId: PassageId }), Passage),
  /** Bytes [start, end) of the stored copy, at most 1 MiB at a time. */
  'documents.bytes': call(
    z.object({
      documentId: DocumentId,
      start: z.number().int().min(0),
      end: z.number().int().min(0),
    }),
    z.object({ base64: z.string(), total: z.number().int() }),
  ),
  /** Blocks from number `from` on. */
  'documents.content': call(
    z.object({
      documentId: DocumentId,
      from: z.number().int().min(1).default(1),
      limit: z.number().int().min(1).max(2000).default(500),
    }),
    z.object({ total: z.number().int(), blocks: z.array(Block) }),
  ),
} as const;

export const documentEvents = {
  /** A document was added, has progressed, or was restored. */
  'document.changed': Document,
  'document.removed': z.object({ documentId: DocumentId }),
  'collections.changed': z.array(Collection),
} as const;
