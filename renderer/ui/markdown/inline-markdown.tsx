import { Component, memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Icon } from '../icon.tsx';
import { breaks } from './breaks.ts';
import { codeOrMath, isPlainLine, mathToCode, openable } from './inline.ts';
import { pieces, tooHeavy } from './limits.ts';
import { useAskedLink } from './links.tsx';
import { Formula } from './math.tsx';
import { useReferences } from './reference-context.ts';
import { references, withoutRemarks } from './references.ts';

const plugins = [remarkGfm, breaks, references];

/** Elements that differ from the browser's. HTML in the source never becomes an element: it stays text. */
const components: Components = {
  code: ({ children }) => <Code text={String(children ?? '')} />,
  pre: ({ children }) => <>{children}</>,
  a: ({ href, children }) => <Anchor address={href}>{children}</Anchor>,
  cite: ({ node }) => <Reference number={numberOf(node)} />,
  data: ({ node }) => <Remark index={numberOf(node)} />,
  img: ({ src, alt }) => <Picture address={typeof src === 'string' ? src : undefined} name={alt} />,
};

const inlineComponents: Components = { ...components, p: ({ children }) => <>{children}</> };

/** One paragraph, heading or other plain piece of Markdown. Memoised by its text: written once, rendered once. */
export const InlineMarkdown = memo(function InlineMarkdown({
  source,
  inline = false,
}: {
  source: string;
  inline?: boolean;
}) {
  if (tooHeavy(source)) return <Raw text={source} />;
  if (isPlainLine(source)) return inline ? source.trimEnd() : <p>{source.trimEnd()}</p>;
  return (
    <PlainWhenBroken text={source}>
      <ReactMarkdown remarkPlugins={plugins} components={inline ? inlineComponents : components}>
        {mathToCode(source)}
      </ReactMarkdown>
    </PlainWhenBroken>
  );
});

export const Raw = memo(function Raw({ text }: { text: string }) {
  return pieces(text).map((piece, index) => (
    <div key={index} className="raw">
      {withoutRemarks(piece)}
    </div>
  ));
});

function Code({ text }: { text: string }) {
  const found = codeOrMath(withoutRemarks(text));
  if (found.kind === 'math') return <Formula tex={found.tex} display={found.display} />;
  return <code dir="ltr">{found.text.replace(/\n$/, '')}</code>;
}

type WithNumber = { properties: Record<string, unknown> } | undefined;

const numberOf = (node: WithNumber): number => Number(node?.properties.dataNumber);

/** A number without a source stays text. */
const Reference = ({ number }: { number: number }) => useReferences()?.cite(number) ?? `[${number}]`;

const Remark = ({ index }: { index: number }) => useReferences()?.remark(index) ?? null;

function Anchor({ address, children }: { address: string | undefined; children: ReactNode }) {
  const ask = useAskedLink((state) => state.ask);
  const target = openable(address);
  if (!target) return <span>{children}</span>;
  return (
    <a
      href={target}
      rel="noreferrer noopener"
      onClick={(event) => {
        event.preventDefault();
        ask(target);
      }}
      onAuxClick={(event) => event.preventDefault()}
    >
      {children}
    </a>
  );
}

/** Remote pictures are named, never fetched. */
function Picture({ address, name }: { address: string | undefined; name: string | undefined }) {
  const { t } = useTranslation();
  return (
    <span className="inline-flex items-center gap-1.5 rounded-sm bg-sunken px-1.5 text-sm text-fg-2 hairline-soft">
      <Icon name="image" size={14} className="text-fg-3" />
      <Anchor address={address}>{name || t('picture.unnamed')}</Anchor>
      <span className="text-xs text-fg-3">{t('picture.notLoaded')}</span>
    </span>
  );
}

type Broken = { text: string; broken: boolean };

/** Text that the library fails on is shown as is. */
class PlainWhenBroken extends Component<{ text: string; children: ReactNode }, Broken> {
  override state: Broken = { text: this.props.text, broken: false };
  static getDerivedStateFromProps(props: { text: string }, state: Broken): Broken | null {
    return props.text === state.text ? null : { text: props.text, broken: false };
  }
  static getDerivedStateFromError(): Partial<Broken> {
    return { broken: true };
  }
  override render() {
    return this.state.broken ? <Raw text={this.props.text} /> : this.props.children;
  }
}
