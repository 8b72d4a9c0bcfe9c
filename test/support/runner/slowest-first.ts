import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const table = readFileSync(join(import.meta.dirname, '../../slowest.md'), 'utf8');
const slowest = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => `/${name}.test.ts`);

/** The files of `test/slowest.md` in their order, then the others as usual: none of the slow ones begins when all else is done. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = slowest.findIndex((name) => moduleId.endsWith(name));
      return found < 0 ? slowest.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}
