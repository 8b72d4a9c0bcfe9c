import { join, relative } from 'node:path';
import { expect } from 'vitest';

const { LONGHAND_MUTANTS_FOLDER: folder, LONGHAND_MUTANTS_TREE: tree } = process.env;
const { testPath } = expect.getState();
// Inherited by every process that the file starts.
if (folder && tree && testPath) {
  process.env.LONGHAND_MUTANTS_REACHED = join(folder, encodeURIComponent(relative(tree, testPath)));
}
