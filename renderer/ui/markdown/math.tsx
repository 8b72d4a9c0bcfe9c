import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type DrawnNode, definesMacros, tooLarge } from './formula-limits.ts';
import { LONGEST_FORMULA } from './limits.ts';

//  KaTeX builds elements, never HTML text, and may neither link nor load.

type Katex = typeof import('katex').default & {
  __renderToDomTree(tex: string, options: import('katex').KatexOptions): DrawnNode & { toNode(): Node };
};

let katex: Katex | null = null;
let loading: Promise<Katex> | null = null;

async function load(): Promise<Katex> {
  const [library] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')]);
  katex = library.default as Katex;
  return katex;
}

/** The elements of a formula.
 *  @throws Error if KaTeX cannot parse it, or it would freeze the page */
function elementsOf(library: Katex, tex: string, display: boolean): Node {
  if (tex.length > LONGEST_FORMULA) throw new Error(`[math] ${tex.length} characters, at most ${LONGEST_FORMULA}`);
  if (definesMacros(tex)) throw new Error('[math] formulas with macros of their own are not drawn');
  const tree = library.__renderToDomTree(tex, {
    displayMode: display,
    throwOnError: true,
    trust: false,
    strict: 'ignore',
    maxExpand: 500,
    maxSize: 20,
  });
  const limit = tooLarge(tree);
  if (limit) throw new Error(`[math] ${limit}`);
  return tree.toNode();
}

/** A formula: rendered, with MathML for screen readers. If it cannot be rendered, its source is shown. */
export const Formula = memo(function Formula({ tex, display }: { tex: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [library, setLibrary] = useState(() => katex);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (library) return;
    loading ??= load();
    let gone = false;
    loading.then(
      (loaded) => !gone && setLibrary(() => loaded),
      () => {
        loading = null; // the source is shown; the next formula tries again
      },
    );
    return () => {
      gone = true;
    };
  }, [library]);
  useLayoutEffect(() => {
    if (!library || !place.current) return;
    try {
      place.current.replaceChildren(elementsOf(library, tex, display));
      setProblem(null);
    } catch (error) {
      place.current.replaceChildren();
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, [library, tex, display]);
  const source = !library || problem !== null;
  return (
    <span className={display ? 'math block' : undefined} dir="ltr">
      {source && <code {...(problem && { title: problem })}>{tex}</code>}
      <span ref={place} hidden={source} />
    </span>
  );
});

/** A formula being written: its source so far, in the place of the formula. */
export const OpenFormula = ({ tex }: { tex: string }) => (
  <span className="math open block" dir="ltr">
    <code>{tex}</code>
    <span className="caret" />
  </span>
);
