// Which mutants the compiler of TypeScript refuses: they count as little as those of C++ that do not compile.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyTree, runIn } from '../tree.mjs';

const LIMIT_MS = 5 * 60_000;
/** What is declared and not used: whoever made the mistake would have left that out, too. */
const UNUSED = /error TS(?:6133|6138|6192|6196|6198|6199)\b/;

/** A copy of its own: in the other one all mutants stand at once. */
export async function checkTypes(tree, mutants, tell) {
  copyTree(tree);
  const errors = async () => {
    const { output } = await runIn(tree, 'tsc', ['-b', 'app', 'main', 'renderer'], { limitMs: LIMIT_MS });
    return output.split('\n').filter((line) => /error TS\d+/.test(line) && !UNUSED.test(line));
  };
  const [before] = await errors();
  if (before) throw new Error(`without any mutant: ${before}`);
  for (const mutant of mutants) {
    const path = join(tree, mutant.file);
    const text = readFileSync(path, 'utf8');
    const { start, end, to, statement } = mutant;
    writeFileSync(path, text.slice(0, start) + (statement ? 'void 0' : `(${to})`) + text.slice(end));
    const [error] = await errors();
    writeFileSync(path, text);
    tell(mutant, error);
  }
}
