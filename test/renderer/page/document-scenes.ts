import { quoteFrom } from '../../../app/documents/answer/best-quote.ts';
import { locationOf } from '../../../app/documents/chunk/location.ts';
import type {
  Block,
  Chat,
  Document,
  DocumentId,
  Grounding,
  Message,
  Passage,
  PassageId,
  Quote,
  Source,
} from '../../../app/protocol/index.ts';
import { useChat } from '../../../renderer/stores/chat/store.ts';
import { useDocuments } from '../../../renderer/stores/documents/store.ts';
import { useShell } from '../../../renderer/stores/shell.ts';
import { type Line, setPage, wordSpans, writePdf } from '../../support/documents/paper.ts';
import { newCollection, newDocument } from '../../support/fakes/documents.ts';
import { newMessage, nextId, type World } from '../../support/fakes/world.ts';
import type { Scene } from './model-scenes.ts';

//  The documents page and answers from documents, with what the mock-ups show.

const TITLE = 'Linear memory for language models';

const body = [
  { text: '4.2  The cost of one step', size: 13, bold: true, after: 6 },
  {
    text: 'With full attention, step t compares one query with t stored keys. The store grows by one key and one value per token, and so does the time to read it. At short lengths the weights hide this cost; past some tens of thousands of tokens they no longer do.',
  },
  {
    text: 'A layer with a recurrent state replaces the store by a matrix of fixed size. Each token lets the matrix fade, corrects one direction of it and writes one new association. Neither the memory nor the time of this update depends on t.',
  },
  {
    text: 'The cost has moved, not vanished. What a growing store keeps word for word, a matrix of fixed size keeps as a sum, and sums interfere. Section 5 measures how soon this shows in recall tasks and how few full layers are needed to repair it.',
  },
  { text: '4.3  The gate', size: 13, bold: true, after: 6 },
  {
    text: 'The factor that lets old content fade is computed from the token itself. A layer can therefore keep a name for a whole chapter and drop a line number after one sentence. Values close to one are rare in the first layers and common in the last.',
  },
  {
    text: 'Two heads of the same layer often settle on very different rates. We read this as a division of labour: one head follows the sentence, the other the subject.',
  },
];

const PAGES = 62;
const filler = (page: number): Line[] =>
  setPage([
    { text: `${page}  Notes`, size: 13, bold: true },
    ...Array.from({ length: 9 }, (_, index) => ({
      text: `Paragraph ${index + 1} of page ${page}. The measurements were repeated with other seeds and other lengths, and the order of the models did not change.`,
    })),
  ]);

const pages = Array.from({ length: PAGES }, (_, index) => (index === 13 ? setPage(body) : filler(index + 1)));

const SENTENCES: [page: number, text: string][] = [
  [
    14,
    'A layer with a recurrent state replaces the store by a matrix of fixed size. Each token lets the matrix fade, corrects one direction of it and writes one new association. Neither the memory nor the time of this update depends on t.',
  ],
  [14, 'What a growing store keeps word for word, a matrix of fixed size keeps as a sum, and sums interfere.'],
  [31, 'Paragraph 2 of page 31. The measurements were repeated with other seeds and other lengths'],
];

function put(world: World, document: Document, page: number, text: string, number: number): Passage {
  const passage = {
    id: nextId<PassageId>('passage'),
    documentId: document.id,
    number,
    text,
    headings: [],
    spans: wordSpans(pages[page - 1] as Line[], text, page),
    location: { kind: 'page' as const, page },
  };
  world.library.passages.set(passage.id, passage);
  return passage;
}

const LONG =
  'Protokoll der außerordentlichen Mitgliederversammlung des Fördervereins Donaudampfschifffahrtsgeschichte (Entwurf, nicht freigegeben)';

type Library = { paper: Document; notes: Document; passages: Passage[] };

export function fillLibrary(world: World): Library {
  const { library } = world;
  const papers = newCollection('Papers', { documents: 38, folders: [{ path: '/home/ada/papers', problem: null }] });
  const others = [
    newCollection('Contracts', {
      documents: 12,
      folders: [{ path: '/mnt/office', problem: { kind: 'failed', code: 'not-found' } }],
    }),
    newCollection('Recipes', { documents: 61 }),
    newCollection('Manuals', { documents: 9 }),
    newCollection('About Longhand', { documents: 9, builtIn: true }),
  ];
  for (const collection of [papers, ...others]) library.collections.set(collection.id, collection);
  const add = (name: string, change: Partial<Document> = {}) => {
    const document = newDocument(papers.id, name, change);
    library.documents.set(document.id, document);
    return document;
  };
  const paper = add(TITLE, { pages: PAGES, passages: 210 });
  library.files.set(paper.id, writePdf(pages, TITLE));
  const passages = SENTENCES.map(([page, text], index) => put(world, paper, page, text, index + 1));
  add('Hybrid stacks, a field guide', { pages: 118 });
  add('State spaces, lecture 6', { pages: 44 });
  const notes = add('Notes on recall, draft 3', {
    kind: 'docx',
    fileName: 'Notes on recall.docx',
    pages: 21,
    notices: [{ code: 'tracked-changes', details: {} }],
  });
  library.blocks.set(notes.id, notesBlocks);
  addNotes(world, notes);
  add('Benchmarks 2026', { kind: 'xlsx', fileName: 'Benchmarks 2026.xlsx', pages: 6 });
  add('A short history of notation', { kind: 'epub', fileName: 'history.epub', pages: 204 });
  add(LONG, { kind: 'docx', fileName: `${LONG}.docx`, pages: 7 });
  return { paper, notes, passages };
}

const notesBlocks: Block[] = [
  { number: 1, kind: 'heading', level: 1, text: 'Notes on recall' },
  { number: 2, kind: 'paragraph', text: 'Recall falls off once the number of pairs nears the width of the key.' },
  { number: 3, kind: 'heading', level: 2, text: 'What was measured' },
  { number: 4, kind: 'item', text: 'Pairs from 16 to 4,096, three seeds each.' },
  { number: 5, kind: 'item', text: 'A state of fixed size against a store that grows.' },
  { number: 6, kind: 'row', text: 'Context | Full | State', cells: ['Context', 'Full', 'State'] },
  { number: 7, kind: 'row', text: '8,192 | 0.48 | 0.19', cells: ['8,192', '0.48', '0.19'] },
  { number: 8, kind: 'row', text: '131,072 | 5.83 | 0.20', cells: ['131,072', '5.83', '0.20'] },
  { number: 9, kind: 'quote', text: 'One full layer in four was enough to restore lookup in all our tests.' },
  { number: 10, kind: 'code', text: 'def step(S, q):\n    return S @ q' },
];

function addNotes(world: World, notes: Document): void {
  const text = 'A state of fixed size against a store that grows.\n8,192 | 0.48 | 0.19';
  const passage = {
    id: nextId<PassageId>('passage'),
    documentId: notes.id,
    number: 1,
    text,
    headings: ['Notes on recall', 'What was measured'],
    spans: [
      { start: 0, end: 49, place: { kind: 'block' as const, block: 5, start: 0, end: 49 } },
      { start: 50, end: text.length, place: { kind: 'block' as const, block: 7, start: 0, end: 19 } },
    ],
    location: { kind: 'block' as const, block: 5 },
  };
  world.library.passages.set(passage.id, passage);
}

function importingNow(world: World, collectionId: Document['collectionId']): void {
  const add = (fileName: string, state: Document['state']) => {
    const document = newDocument(collectionId, fileName, { fileName, state, passages: 0 });
    world.library.documents.set(document.id, document);
  };
  add('State spaces, lecture 7.pdf', { status: 'reading', step: 'file', done: 31, total: 48 });
  const failure = (message: string) => ({ code: 'unreadable' as const, message });
  add('Scan 2026-11-02.pdf', {
    status: 'failed',
    failure: { ...failure('[pdf] no text'), hint: '18 pages without text' },
    remedy: 'ocr',
  });
  add('Exam 2019.pdf', { status: 'failed', failure: failure('[pdf] encrypted'), remedy: 'unlock' });
}

const sourceOf = (document: Document, passage: Passage, number: number, cited: boolean): Source => ({
  number,
  passageId: passage.id,
  documentId: document.id,
  collectionId: document.collectionId,
  name: document.name,
  location: locationOf(passage.spans) ?? { kind: 'block', block: 5 },
  text: passage.text,
  spans: passage.spans,
  cited,
});

const WHOLE = /^[\s\S]*$/;
/** The words of a source that a pattern finds. */
function quoteOf(source: Source | undefined, words: RegExp): Quote | null {
  const found = source?.text.match(words);
  const start = found?.index ?? 0;
  return source && found ? quoteFrom(source, [start, start + found[0].length]) : null;
}

const ANSWER = `A full-attention layer reads every stored key and value for each new token, so its work grows with the context. A gated linear layer keeps **one matrix of fixed size per head** and folds each token into it [1].

Nothing here depends on the position, so a token costs the same at 100 as at 100,000 [1]. The price is exact recall: sums interfere [2]. Most readers notice none of this.`;

const HEBREW = 'השכירות החודשית היא 840 אירו, והיא משולמת עד היום השלישי של כל חודש.';

type Around = { world: World; chats: Map<string, Chat> };

export function documentScenes(
  worldOfMocks: () => Around,
  put: (world: World, chat: Chat, messages: Message[]) => Scene,
): Record<string, () => Scene> {
  const page = (prepare: (world: World, library: Library) => (() => void) | undefined): Scene => {
    const { world } = worldOfMocks();
    const library = fillLibrary(world);
    const after = prepare(world, library);
    return {
      world,
      after: () => {
        useShell.getState().go({ kind: 'documents' });
        setTimeout(() => after?.(), 250);
      },
    };
  };
  const choosePapers = () => {
    const papers = useDocuments.getState().collections?.find(({ name }) => name === 'Papers');
    if (papers) useDocuments.getState().choose(papers.id);
  };
  const search = (then: () => void) => () => {
    choosePapers();
    useDocuments.getState().search('fixed size');
    setTimeout(then, 250);
  };

  const answered = (grounded: (library: Library) => Partial<Message>, shown: number | null, before = 0): Scene => {
    const { world, chats } = worldOfMocks();
    const library = fillLibrary(world);
    const chat = chats.get('Why decode speed stays flat') as Chat;
    const { id } = chat;
    const earlier = Array.from({ length: before }, (_, index) =>
      newMessage(id, index % 2 === 0 ? 'user' : 'assistant', {
        text: `${ANSWER.replaceAll(/ \[\d\]/g, '')}\n\n`.repeat(3),
      }),
    );
    const question = newMessage(id, 'user', {
      text: 'Why does the time per token stay flat in gated linear attention when the context grows?',
    });
    const answer = newMessage(id, 'assistant', {
      timings: {
        firstTokenMs: 420,
        prefillMs: 380,
        decodeMs: 6800,
        thinkingMs: 0,
        totalMs: 7220,
        tokensPerSecond: 46.1,
      },
      usage: { promptTokens: 2122, cachedTokens: 1204, thinkingTokens: 0, answerTokens: 204 },
      ...grounded(library),
    });
    const scene = put(world, { ...chat, collectionIds: [library.paper.collectionId] }, [...earlier, question, answer]);
    const after = () => {
      setTimeout(() => {
        if (shown !== null) useChat.getState().showSource(answer.id, shown);
      }, 500);
    };
    return { ...scene, after };
  };
  const grounding = ({ paper, passages }: Library): Partial<Message> => {
    const sources = passages.slice(0, 2).map((passage, index) => sourceOf(paper, passage, index + 1, true));
    return {
      text: ANSWER,
      grounding: {
        found: true,
        by: 'words-and-meaning',
        question: '',
        sources,
        support: [
          { start: 0, end: 112, level: 'weak', source: 1, evidence: null },
          { start: ANSWER.indexOf('Most readers'), end: ANSWER.length, level: 'none', source: null, evidence: null },
        ],
        quote: quoteOf(sources[0], /Neither .*/),
      },
    };
  };
  /** What no model bears: an answer that cites nothing, and one that says what stands nowhere. */
  const quotes = (): Scene => {
    const { world, chats } = worldOfMocks();
    const { paper, notes, passages } = fillLibrary(world);
    const chat = chats.get('Why decode speed stays flat') as Chat;
    const about = (
      document: Document,
      passage: Passage,
      question: string,
      answer: string,
      words = WHOLE,
    ): Message[] => {
      const source = sourceOf(document, passage, 1, false);
      const grounding: Grounding = {
        found: true,
        by: 'words',
        question,
        sources: [source],
        support: [{ start: 0, end: answer.length, level: 'none', source: null, evidence: null }],
        quote: quoteOf(source, words),
      };
      return [
        newMessage(chat.id, 'user', { text: question }),
        newMessage(chat.id, 'assistant', { text: answer, grounding }),
      ];
    };
    const [first, , third] = passages as [Passage, Passage, Passage];
    const row = [...world.library.passages.values()].find(({ documentId }) => documentId === notes.id) as Passage;
    const long = { ...third, text: `<b>${'The gate opens, and the '.repeat(400)}</b> <script>alert(1)</script>` };
    return put(world, { ...chat, collectionIds: [paper.collectionId] }, [
      ...about(notes, row, 'How does a state compare at 131,072 tokens?', 'It is about the same.', /131.*|8,192.*/),
      ...about(notes, { ...row, text: HEBREW, spans: [] }, 'כמה עולה השכירות?', 'The rent is not known to me.'),
      ...about(paper, long, 'What opens?', 'Something else.'),
      ...about(paper, first, 'Does an update get slower?', 'Yes, it grows with the context.', /Neither .*/),
    ]);
  };
  const refusal = ({ paper, passages }: Library): Partial<Message> => {
    const sources = passages.map((passage, index) => sourceOf(paper, passage, index + 1, false));
    return {
      text: 'I could not find that in your documents.',
      grounding: {
        found: false,
        by: 'words',
        question: 'price of copper in 1912',
        sources,
        support: [],
        quote: quoteOf(sources[0], /Each token .*? association\./),
      },
    };
  };
  /** An answer that names no source although its first sentences stand in one, and one that denies what was found. */
  const uncited = (library: Library): Partial<Message> => {
    const { grounding: given = null } = grounding(library);
    const text =
      'A gated linear layer keeps one matrix of fixed size. It costs the same at every position. Most readers like it.';
    const end = (words: string) => text.indexOf(words) + words.length;
    return {
      text,
      grounding: given && {
        ...given,
        sources: given.sources.map((source) => ({ ...source, cited: false })),
        support: [
          { start: 0, end: end('fixed size.'), level: 'supported', source: 1, evidence: [0, 80] },
          { start: end('fixed size. '), end: end('every position.'), level: 'supported', source: 2, evidence: [0, 40] },
          { start: end('every position. '), end: text.length, level: 'none', source: null, evidence: null },
        ],
        quote: null,
      },
    };
  };
  const denied = (library: Library): Partial<Message> => ({
    ...grounding(library),
    text: 'I could not find that in your documents.',
  });
  const gone = ({ paper, ...library }: Library): Partial<Message> =>
    grounding({ ...library, paper: { ...paper, id: 'gone' as DocumentId } });

  return {
    documents: () =>
      page((world, { paper }) => {
        importingNow(world, paper.collectionId);
        return search(() => void useDocuments.getState().openHit(paper.id, 0));
      }),
    'documents-list': () => page(() => choosePapers),
    'documents-text': () => page((_, { notes }) => search(() => void useDocuments.getState().openHit(notes.id, 0))),
    'documents-collection': () =>
      page((world) => {
        const contracts = [...world.library.collections.values()].find(({ name }) => name === 'Contracts');
        return () => {
          if (contracts) useDocuments.setState({ dialog: { kind: 'collection', collectionId: contracts.id } });
        };
      }),
    'documents-many': () =>
      page((world, { paper }) => {
        for (let at = 0; at < 10_000; at += 1) {
          const document = newDocument(paper.collectionId, `Minutes of meeting ${at}`);
          world.library.documents.set(document.id, document);
        }
        return undefined;
      }),
    'documents-empty': () => {
      const { world } = worldOfMocks();
      return { world, after: () => useShell.getState().go({ kind: 'documents' }) };
    },
    sources: () => answered(grounding, 1),
    'sources-long': () => answered(grounding, null, 12),
    'sources-gone': () => answered(gone, 1),
    quotes,
    'not-found': () => answered(refusal, null),
    uncited: () => answered(uncited, null),
    denied: () => answered(denied, null),
  };
}
