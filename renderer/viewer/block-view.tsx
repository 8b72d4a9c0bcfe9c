import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { type Block, type DocumentId, type Failure, failureOf } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import type { Mark } from '../stores/documents/state.ts';
import { paint, rangesIn, unpaint } from '../ui/highlight/css-highlight.ts';
import { EDGE } from './layout.ts';
import { blockMarks, piecesOf, type TextMark } from './marks.ts';
import { ViewFailed } from './messages.tsx';
import type { Find, ViewProps } from './types.ts';

type Loaded =
  | { status: 'loading'; blocks: Block[] }
  | { status: 'all'; blocks: Block[] }
  | { status: 'failed'; failure: Failure };

const PORTION = 2000;

/** All blocks, a portion at a time; the first portion is shown while the others load. */
function useBlocks(documentId: DocumentId): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ status: 'loading', blocks: [] });
  useEffect(() => {
    let gone = false;
    const load = async () => {
      let blocks: Block[] = [];
      for (;;) {
        const portion = await core.call('documents.content', { documentId, from: blocks.length + 1, limit: PORTION });
        if (gone) return;
        blocks = [...blocks, ...portion.blocks];
        const all = blocks.length >= portion.total || portion.blocks.length === 0;
        setLoaded({ status: all ? 'all' : 'loading', blocks });
        if (all) return;
      }
    };
    setLoaded({ status: 'loading', blocks: [] });
    load().catch((error) => {
      if (!gone) setLoaded({ status: 'failed', failure: failureOf(error) });
    });
    return () => {
      gone = true;
    };
  }, [documentId]);
  return loaded;
}

/** Documents without pages of their own, as headings, paragraphs, tables and code on one long sheet. */
export function BlockView(props: ViewProps) {
  const loaded = useBlocks(props.document.id);
  if (loaded.status === 'failed') return <ViewFailed failure={loaded.failure} />;
  if (loaded.blocks.length === 0) return loaded.status === 'all' ? <NothingToRead /> : null;
  return <Sheet {...props} blocks={loaded.blocks} whole={loaded.status === 'all'} />;
}

function NothingToRead() {
  const { t } = useTranslation();
  return <p className="min-h-0 flex-1 bg-sunken p-5 text-center text-fg-2">{t('documents.nothingToRead')}</p>;
}

const nowhere = () => {};

function Sheet({
  mark,
  others,
  zoom,
  inverted,
  find,
  onState,
  document,
  blocks,
  whole,
}: ViewProps & { blocks: readonly Block[]; whole: boolean }) {
  const { t } = useTranslation();
  const scroller = useRef<HTMLElement>(null);
  const sheet = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const scale = typeof zoom === 'number' ? zoom : 1;
  const marks = useMemo(() => marksByBlock(mark, others, blocks), [mark, others, blocks]);
  const first = useMemo(() => firstMarked(marks, mark, blocks), [marks, mark, blocks]);
  const shown = useRef<string | null>(null);
  const wanted = `${document.id} ${mark?.key ?? ''}`;

  useEffect(() => {
    const element = scroller.current;
    if (!element || first === null || shown.current === wanted) return;
    shown.current = wanted;
    list.current?.scrollToIndex(first, { align: 'start', offset: -element.clientHeight / 3 });
  }, [first, wanted]);

  const found = useFindInBlocks(blocks, find, sheet, list);
  useEffect(
    () => onState({ page: null, pages: 0, scale, found: found.state, showPage: nowhere, picture: null }),
    [onState, scale, found.state],
  );
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={t('documents.text')}
      aria-busy={!whole}
      className="min-h-0 flex-1 overflow-auto bg-sunken ring-inset-focus"
    >
      <div className="mx-auto max-w-190 p-6" style={{ fontSize: `${scale * 0.875}rem` }}>
        <div
          ref={sheet}
          dir="auto"
          className={`paper sheet px-[8%] py-9 text-page-fg ${document.kind === 'code' ? 'code' : ''} ${inverted ? 'inverted' : ''}`}
        >
          <Virtualizer ref={list} data={blocks} scrollRef={scroller} startMargin={EDGE + 36} onScroll={found.refresh}>
            {(block, index) => <BlockLine key={index} block={block} marks={marks.get(block.number) ?? none} />}
          </Virtualizer>
        </div>
      </div>
    </section>
  );
}

const none: readonly TextMark[] = [];

function marksByBlock(mark: Mark | null, others: readonly Mark[], blocks: readonly Block[]): Map<number, TextMark[]> {
  const marks = new Map<number, TextMark[]>();
  for (const block of blocks) {
    const full = blockMarks(mark, block);
    const soft = others
      .filter((other) => other.key !== mark?.key)
      .flatMap((other) => blockMarks(other, block))
      .flatMap((one): TextMark[] => (one.strength === 'current' ? [{ ...one, strength: 'soft' }] : []));
    if (full.length + soft.length > 0) marks.set(block.number, [...full, ...soft]);
  }
  return marks;
}

function firstMarked(marks: Map<number, TextMark[]>, mark: Mark | null, blocks: readonly Block[]): number | null {
  if (!mark) return null;
  const index = blocks.findIndex((block) => marks.get(block.number)?.some(({ strength }) => strength === 'current'));
  return index === -1 ? null : index;
}

/** Below the title of the column. */
const headings = ['h3', 'h4', 'h5', 'h6'] as const;

function BlockLine({ block, marks }: { block: Block; marks: readonly TextMark[] }) {
  const text = <Marked text={block.text} marks={marks} />;
  switch (block.kind) {
    case 'heading':
    case 'slide':
    case 'sheet': {
      const Heading = headings[Math.min(headings.length, block.level ?? 1) - 1] ?? 'h6';
      return <Heading className={`heading level-${block.level ?? 1}`}>{text}</Heading>;
    }
    case 'item':
      return <div className="item">{text}</div>;
    case 'quote':
      return <blockquote>{text}</blockquote>;
    case 'code':
      return (
        <pre dir="ltr">
          <code>{text}</code>
        </pre>
      );
    case 'row':
      return <TableRow block={block} marks={marks} />;
    case 'rule':
      return <hr />;
    case 'paragraph':
      return <p>{text}</p>;
  }
}

/** Between cells in the text of a row, as in passages. */
const BETWEEN = ' | ';

/** Marks refer to the joined text: each cell gets its part of them. */
function TableRow({ block, marks }: { block: Block; marks: readonly TextMark[] }) {
  let at = 0;
  const cells = (block.cells ?? [block.text]).map((cell) => {
    const start = at;
    at += cell.length + BETWEEN.length;
    const own = marks
      .map((mark) => ({ ...mark, start: mark.start - start, end: mark.end - start }))
      .filter((mark) => mark.end > 0 && mark.start < cell.length);
    return { cell, start, own };
  });
  return (
    <div className="row" style={{ gridTemplateColumns: `repeat(${cells.length}, minmax(4em, 1fr))` }}>
      {cells.map(({ cell, start, own }) => (
        <span key={start}>
          <Marked text={cell} marks={own.map((mark) => ({ ...mark, start: Math.max(0, mark.start) }))} />
        </span>
      ))}
    </div>
  );
}

function Marked({ text, marks }: { text: string; marks: readonly TextMark[] }): ReactNode {
  if (marks.length === 0) return text;
  return piecesOf(text, marks).map((piece, index) =>
    piece.strength ? (
      <mark
        key={index}
        data-mark={piece.strength}
        className={`rounded-[2px] text-page-fg ${piece.strength === 'current' ? 'bg-page-marker' : 'page-marker-soft'}`}
      >
        {piece.text}
      </mark>
    ) : (
      <span key={index}>{piece.text}</span>
    ),
  );
}

/** Search in a text that is only partly rendered: counted in the blocks, highlighted where they are on screen. */
function useFindInBlocks(
  blocks: readonly Block[],
  find: Find | null,
  sheet: React.RefObject<HTMLElement | null>,
  list: React.RefObject<VirtualizerHandle | null>,
) {
  const wanted = find?.text.trim().toLocaleLowerCase() ?? '';
  const matches = useMemo(
    () =>
      wanted === ''
        ? []
        : blocks.flatMap((block, index) =>
            Array.from({ length: block.text.toLocaleLowerCase().split(wanted).length - 1 }, () => index),
          ),
    [blocks, wanted],
  );
  const at = matches.length === 0 ? -1 : (((find?.at ?? 0) % matches.length) + matches.length) % matches.length;
  const block = matches[at] ?? null;
  const refresh = useCallback(() => {
    if (wanted === '' || !sheet.current) unpaint();
    else paint(rangesIn([sheet.current], wanted), null);
  }, [wanted, sheet]);
  useEffect(() => {
    if (block !== null) list.current?.scrollToIndex(block, { align: 'center' });
    const timer = setTimeout(refresh, 60);
    return () => clearTimeout(timer);
  }, [block, refresh, list]);
  useEffect(() => unpaint, []);
  const state = useMemo(
    () => (wanted === '' ? null : { at: at + 1, count: matches.length }),
    [wanted, at, matches.length],
  );
  return { state, refresh };
}
