import { join, relative } from 'node:path';
import { expect } from 'vitest';

const { LONGHAND_SLIPS_FOLDER: folder, LONGHAND_SLIPS_TREE: tree } = process.env;
const { testPath } = expect.getState();
// Inherited by every process that the file starts.
if (folder && tree && testPath) {
  process.env.LONGHAND_SLIPS_REACHED = join(folder, encodeURIComponent(relative(tree, testPath)));
}
