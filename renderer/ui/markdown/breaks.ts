type Node = { type: string; value?: string; children?: Node[] };

/** For the Markdown library: keeps line breaks within paragraphs. Models write poems, addresses and short lists line by line,
 *  and do not wrap lines. */
export const breaks = () => walk as (tree: unknown) => void;

function walk(node: Node): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text' && child.value?.includes('\n')) return linesOf(child.value);
    walk(child);
    return [child];
  });
}

const linesOf = (text: string): Node[] =>
  text
    .split(/[ \t]*\r?\n/)
    .flatMap((line, index) => [
      ...(index > 0 ? [{ type: 'break' }] : []),
      ...(line === '' ? [] : [{ type: 'text', value: line }]),
    ]);
