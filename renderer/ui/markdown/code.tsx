import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../copy-button.tsx';
import { useHighlight } from './highlight.ts';
import type { Run } from './highlight-queue.ts';

const CHUNK = 40;

export const CodeBlock = memo(function CodeBlock(props: { language: string; text: string; closed: boolean }) {
  const { language, text, closed } = props;
  const { t } = useTranslation();
  const lines = useHighlight(text, language, closed);
  const count = text.split('\n').length;
  return (
    <figure
      className="codeblock overflow-hidden rounded-md bg-code hairline-soft"
      aria-label={t('code.label', { count })}
      dir="ltr"
    >
      <div data-apart className="flex h-8 items-center ps-3 pe-1.5 text-xs text-fg-3">
        <span className="min-w-0 truncate">{language || t('code.plain')}</span>
        <CopyButton text={text} label={t('code.copy')} className="ms-auto" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className="ring-inset-focus">
        <code>{lines ? <Coloured lines={lines} /> : text}</code>
      </pre>
    </figure>
  );
});

/** Lines in chunks, so that a block of thousands is not one enormous list for React. */
const Coloured = memo(function Coloured({ lines }: { lines: Run[][] }) {
  const chunks = Array.from({ length: Math.ceil(lines.length / CHUNK) }, (_, index) => index * CHUNK);
  return chunks.map((from) => <Chunk key={from} lines={lines} from={from} />);
});

const Chunk = memo(function Chunk({ lines, from }: { lines: Run[][]; from: number }) {
  return lines.slice(from, from + CHUNK).map((line, index) => (
    <span key={index}>
      {from + index > 0 && '\n'}
      {line.map(([text, mark], column) =>
        mark ? (
          <span key={column} className={mark}>
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </span>
  ));
});
