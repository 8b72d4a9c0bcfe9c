// npm run test:attack: runs every file of test/attack/classes.ts in its long form, then prints the table.
import { join } from 'node:path';
import { show } from '../support/runner/runners.mjs';
import { CLASSES } from './classes.ts';

const files = new Set(Object.values(CLASSES).flatMap((one) => one.files));
const runner = join(import.meta.dirname, '..', 'run.mjs');
const code = await show(process.execPath, [runner, '--soak', 'attack/', ...files]);
await show(process.execPath, [join(import.meta.dirname, 'report.ts'), ...process.argv.slice(2)]);
process.exitCode = code;
