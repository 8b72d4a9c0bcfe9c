import { z } from 'zod';
import { ErrorCode, Failure } from './errors.ts';
import { CollectionId, DocumentId, ModelId, PassageId, Time } from './ids.ts';

/** A rectangle on a page, in points (1/72 inch) from its upper left corner, as the page is shown unrotated by the user:
 *  [x, y, width, height]. */
export const Rectangle = z.tuple([z.number(), z.number(), z.number(), z.number()]);
export type Rectangle = z.infer<typeof Rectangle>;

/** Characters [start, end) of the text of a block of `documents.content`. */
const inBlock = {
  block: z.number().int(),
  start: z.number().int().optional(),
  end: z.number().int().optional(),
};

/** Where a piece of text stands in its document. Pages, slides, lines and blocks count from 1. */
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

/** Characters [start, end) of a passage and where they stand. Spans are in order and do not overlap. */
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

/** What was left out of a document or guessed on its way in. `code` names its sentence (strings `documents.notice.<code>`), and
 *  `details` fill it; a `count` there chooses between one and many. */
export const DocumentNotice = z.object({
  code: z.enum([
    'no-text',
    'characters-cut', // millions
    'cells-cut', // limit
    'pages-cut', // limit, pages
    'page-cut', // limit, page
    'pages-broken', // pages, count
    'pages-silent', // pages, count: nothing but pictures
    'pages-recognised', // pages, count
    'pages-recognised-english', // the same, by a recogniser that knows no other language
    'picture-uncertain',
    'encoding-guessed', // encoding
    'laid-out', // lines too long to be shown
    'tracked-changes',
    'hidden-text',
    'comments',
    'attachments', // names
    'told', // text: the sentence of an earlier version
  ]),
  details: z.record(z.string(), z.union([z.string(), z.number()])),
});
export type DocumentNotice = z.infer<typeof DocumentNotice>;

/** Why a watched folder is not followed, or not wholly. */
export const FolderProblem = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('failed'), code: ErrorCode }),
  /** Links out of it, which are left out. */
  z.object({ kind: z.literal('links'), count: z.number().int(), first: z.string() }),
]);
export type FolderProblem = z.infer<typeof FolderProblem>;

export const Document = z.object({
  id: DocumentId,
  collectionId: CollectionId,
  /** The title it carries, else its file name. */
  name: z.string(),
  fileName: z.string(),
  kind: DocumentKind,
  bytes: z.number(),
  addedAt: Time,
  /** Pages, slides, sheets or chapters; null where there are none. */
  pages: z.number().int().nullable(),
  passages: z.number().int(),
  state: DocumentState,
  /** Kept in a watched folder: its path. A copy of the file is kept in the data folder either way. */
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
  /** null: search is by words alone. While `done` < `total` it is being built, and search goes on. */
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
  /** Its place in the order of the document, from 1. */
  number: z.number().int(),
  text: z.string(),
  /** The headings above it, outermost first. */
  headings: z.array(z.string()),
  spans: z.array(Span),
});
export type Passage = z.infer<typeof Passage>;

/** Where words begin in their document. Pages, slides, lines and blocks count from 1; `range` is one of a sheet, "B4:D9". */
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

/** A passage that was laid before the model, with the number it cites it by. The text is kept with the answer: it can be
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

/** How well a sentence of an answer, characters [start, end), stands in its sources. `source`: the number of the best one. */
export const ClaimCheck = z.object({
  start: z.number().int(),
  end: z.number().int(),
  level: z.enum(['supported', 'weak', 'none']),
  source: z.number().int().nullable(),
  /** Characters [start, end) of that source's text that say it. */
  evidence: z.tuple([z.number().int(), z.number().int()]).nullable(),
});
export type ClaimCheck = z.infer<typeof ClaimCheck>;

/** The words of a source, characters [start, end) of its text, that answer best. Found without the model, so it stands
 *  whatever the model says, or when it names no source. */
export const Quote = z.object({
  source: z.number().int(),
  start: z.number().int(),
  end: z.number().int(),
  /** Where these words begin; the source's own location says where its passage does. */
  location: Location.nullable(),
  /** Other documents that say the same, by their names: this one is the newest. */
  alsoIn: z.array(z.string()).optional(),
});
export type Quote = z.infer<typeof Quote>;

/** What an answer from documents rests on. `found` false: nothing relevant enough, so the model was not asked. */
export const Grounding = z.object({
  found: z.boolean(),
  /** How it was looked for. */
  by: z.enum(['words', 'words-and-meaning', 'whole-documents']),
  /** The question as it was searched, when the chat before it had to be taken into account. */
  question: z.string(),
  sources: z.array(Source),
  support: z.array(ClaimCheck),
  /** Null when no single sentence could answer ("summarise"). Where nothing was found: the sentence that came closest. */
  quote: Quote.nullable(),
});
export type Grounding = z.infer<typeof Grounding>;

export type Quoted = { text: string; source: Source; location: Location | null };

/** The quoted words in one line, whose they are and where they stand; null where nothing answers. */
export const quotedIn = (grounding: Grounding | null | undefined): Quoted | null =>
  grounding?.found ? quoteOf(grounding) : null;

/** The same of what came closest where nothing was found. */
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

/** Whether the words that were found stand alone: because they were given as the answer without asking a model, or because the
 *  answer says nothing but that it found nothing. Null: the answer says something of its own. What a model wrote was seen as it
 *  was written, so it stays even where it is the same words. */
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
  /** Cells of a table row. `text` then joins them with " | " as in passages. */
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
  /** Watches a folder: what is added, changed, renamed and removed there follows here. */
  'documents.watch': call(z.object({ collectionId: CollectionId, path: z.string().min(1) }), Collection),
  'documents.unwatch': call(z.object({ collectionId: CollectionId, path: z.string().min(1) }), Collection),
  /** The encoder whose vectors this collection is searched with; null: by words alone. */
  'documents.setEmbedding': call(z.object({ collectionId: CollectionId, modelId: ModelId.nullable() }), Collection),

  'documents.list': call(z.object({ collectionId: CollectionId.nullable().default(null) }), z.array(Document)),
  /** Files and folders by path; in the browser, uploads by name. A file that is there already is not added twice. */
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
  /** Tries a failed document again, with what it needs. */
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
  /** What answers a question, without a model: the quote and its sources, the same every time. */
  'documents.ask': call(
    z.object({ question: z.string().trim().min(1).max(2000), collectionIds: z.array(CollectionId).min(1).max(1000) }),
    Grounding,
  ),
  'documents.passage': call(z.object({ passageId: PassageId }), Passage),
  /** Bytes [start, end) of the kept copy, at most 1 MiB at a time. */
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
  /** A document is new, has moved on, or was restored. */
  'document.changed': Document,
  'document.removed': z.object({ documentId: DocumentId }),
  'collections.changed': z.array(Collection),
} as const;
