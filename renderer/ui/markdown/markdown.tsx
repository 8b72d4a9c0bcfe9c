import { type CSSProperties, memo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type Align, advance, type Block, type BlockStream, emptyStream, sectionStarts } from './blocks.ts';
import { CodeBlock } from './code.tsx';
import { InlineMarkdown, Raw } from './inline-markdown.tsx';
import { DEEPEST, MAX_BLOCKS } from './limits.ts';
import { Formula, OpenFormula } from './math.tsx';
import { usePlain } from './plain-context.ts';

/** Markdown that may still grow. Finished blocks keep their identity and never render again; the text is laid out in
 *  sections that the browser skips while they are out of sight. */
export const Markdown = memo(function Markdown({
  text,
  growing = false,
  depth = 0,
}: {
  text: string;
  growing?: boolean;
  depth?: number;
}) {
  const stream = useRef<BlockStream>(emptyStream);
  stream.current = advance(stream.current, text);
  const { finished, open } = stream.current;
  const plain = usePlain();
  if (plain || depth > DEEPEST || finished.length > MAX_BLOCKS) return <Raw text={text} />;
  const blocks = open ? [...finished, open] : finished;
  if (depth > 0) return <Blocks blocks={blocks} growing={false} depth={depth} />;
  const starts = sectionStarts(blocks);
  return (
    <div className="blocks">
      {starts.map((start, index) => {
        const last = index === starts.length - 1;
        return (
          <div key={start} className={last ? '' : 'section'}>
            <Blocks blocks={blocks.slice(start, starts[index + 1])} growing={growing && last} depth={0} />
          </div>
        );
      })}
    </div>
  );
});

type BlocksProps = { blocks: readonly Block[]; growing: boolean; depth: number };

const Blocks = memo(function Blocks({ blocks, growing, depth }: BlocksProps) {
  return (
    <div className={growing ? 'blocks growing' : 'blocks'}>
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} depth={depth} growing={growing && index === blocks.length - 1} />
      ))}
    </div>
  );
}, sameBlocks);

function sameBlocks(before: BlocksProps, after: BlocksProps): boolean {
  if (before.growing !== after.growing || before.blocks.length !== after.blocks.length) return false;
  return before.blocks.every((block, index) => block === after.blocks[index]);
}

type BlockViewProps = { block: Block; depth: number; growing: boolean };

const BlockView = memo(function BlockView({ block, depth, growing }: BlockViewProps) {
  switch (block.kind) {
    case 'leaf':
      return <InlineMarkdown source={block.source} />;
    case 'code':
      return <CodeBlock language={block.language} text={block.text} closed={block.closed} />;
    case 'math':
      return <Formula tex={block.tex} display />;
    case 'open-math':
      return growing ? <OpenFormula tex={block.tex} /> : <InlineMarkdown source={block.source} />;
    case 'raw':
      return <Raw text={block.source} />;
    case 'quote':
      return (
        <blockquote>
          <Markdown text={block.source} depth={depth + 1} />
        </blockquote>
      );
    case 'list':
      return <List block={block} depth={depth} />;
    case 'table':
      return <Table block={block} />;
    case 'rule':
      return <hr />;
  }
});

const TASK = /^\[([ xX])\]\s+/;

function List({ block, depth }: { block: Extract<Block, { kind: 'list' }>; depth: number }) {
  const items = block.items.map((source, index) => <Item key={index} source={source} depth={depth} />);
  if (!block.ordered) return <ul>{items}</ul>;
  const digits = String(block.start + block.items.length - 1).length;
  return (
    <ol start={block.start} style={{ '--digits': digits } as CSSProperties}>
      {items}
    </ol>
  );
}

const Item = memo(function Item({ source, depth }: { source: string; depth: number }) {
  const { t } = useTranslation();
  const task = TASK.exec(source);
  if (!task) {
    return (
      <li>
        <Markdown text={source} depth={depth + 1} />
      </li>
    );
  }
  const done = task[1] !== ' ';
  return (
    <li className="task">
      <input type="checkbox" checked={done} readOnly disabled aria-label={done ? t('task.done') : t('task.open')} />
      <Markdown text={source.slice(task[0].length)} depth={depth + 1} />
    </li>
  );
});

const alignment: Record<Align, string> = { start: 'text-start', center: 'text-center', end: 'text-end' };

function Table({ block }: { block: Extract<Block, { kind: 'table' }> }) {
  const { t } = useTranslation();
  const { header, rows, align } = block;
  const label = t('table.label', { rows: rows.length, columns: header.length });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <section className="overflow-x-auto rounded-md hairline-soft ring-inset-focus" tabIndex={0} aria-label={label}>
      <table aria-label={label}>
        <thead>
          <tr>
            {header.map((cell, column) => (
              <th key={column} scope="col" className={alignment[align[column] ?? 'start']}>
                <InlineMarkdown source={cell} inline />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <Row key={row} line={JSON.stringify(cells)} align={align} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Its cells arrive as one text, so that an unchanged row compares equal. */
const Row = memo(
  function Row({ line, align }: { line: string; align: Align[] }) {
    const cells = JSON.parse(line) as string[];
    return (
      <tr>
        {cells.map((cell, column) => (
          <td key={column} className={alignment[align[column] ?? 'start']}>
            <InlineMarkdown source={cell} inline />
          </td>
        ))}
      </tr>
    );
  },
  (before, after) => before.line === after.line,
);
