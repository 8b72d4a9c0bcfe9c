//  Limits of a formula. Browsers lay out elements recursively: a few thousand nested ones crash the page.

/** KaTeX's output tree, before elements are created. */
export type DrawnNode = { children?: readonly DrawnNode[] };

const DEEPEST = 300;
const MAX_NODES = 20_000;

const DEFINITION =
  /\\(?:[gex]?def|(?:re)?newcommand|providecommand|(?:future)?let|DeclareMathOperator|global|long|char)(?![a-zA-Z])/;

/** A macro can hold thousands of characters and be used hundreds of times, or hide how deep it goes. */
export const definesMacros = (tex: string): boolean => DEFINITION.test(tex);

/** The limit that is exceeded; null if none is. */
export function tooLarge(tree: DrawnNode): string | null {
  const waiting: [node: DrawnNode, depth: number][] = [[tree, 1]];
  let nodes = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [node, depth] = next;
    nodes += 1;
    if (nodes > MAX_NODES) return `more than ${MAX_NODES} elements`;
    if (depth > DEEPEST) return `elements nested deeper than ${DEEPEST}`;
    for (const child of node.children ?? []) waiting.push([child, depth + 1]);
  }
  return null;
}
