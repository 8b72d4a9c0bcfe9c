import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react';

type Katex = typeof import('katex').default;

let katex: Katex | null = null;
let loading: Promise<Katex> | null = null;

async function load(): Promise<Katex> {
  const [library] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')]);
  katex = library.default;
  return katex;
}

const LONGEST = 5_000;

/** A formula: drawn for the eye, MathML for the ear. KaTeX builds elements, never HTML text, and may neither link nor load.
 *  What it cannot read stays as it was written. */
export const Formula = memo(function Formula({ tex, display }: { tex: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [library, setLibrary] = useState(() => katex);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (library) return;
    loading ??= load();
    let gone = false;
    loading.then((loaded) => !gone && setLibrary(() => loaded));
    return () => {
      gone = true;
    };
  }, [library]);
  useLayoutEffect(() => {
    if (!library || !place.current || tex.length > LONGEST) return;
    try {
      library.render(tex, place.current, {
        displayMode: display,
        throwOnError: true,
        trust: false,
        maxExpand: 500,
        maxSize: 20,
      });
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, [library, tex, display]);
  const source = !library || problem !== null || tex.length > LONGEST;
  return (
    <span className={display ? 'math block' : undefined} dir="ltr">
      {source && <code {...(problem && { title: problem })}>{tex}</code>}
      <span ref={place} hidden={source} />
    </span>
  );
});
