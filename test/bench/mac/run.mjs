// npm run mac: everything that only a Mac can say, in one command and one report.
//   npm run mac [-- --quick] [--only NAME,NAME] [--out FOLDER] [--shapes NAME,NAME]
// About 40 minutes, or 8 with --quick. A failed step does not stop the next; each is recorded at once in
// build/mac/report-<chip>-<system>.json and .md, the second for pasting into an issue. Nothing is changed outside the build folder,
// and nothing is sent anywhere. Needs Xcode (or its command line tools) and Node.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sayDone, sayProblem, sayStep } from '../../../app/launch/say.mjs';
import { readOptions } from '../options.mjs';
import { machine } from './machine.mjs';
import { openReport } from './report.mjs';
import { STEPS } from './steps.mjs';

const root = join(import.meta.dirname, '../../..');
const { values } = readOptions(import.meta.filename, {
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    out: { type: 'string', default: join(root, 'build/mac') },
    shapes: { type: 'string' },
  },
});
const names = STEPS.map(({ name }) => name);
const wanted = values.only?.split(',') ?? names;
const unknown = wanted.find((name) => !names.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`[mac] --only ${unknown}: the steps are ${names.join(', ')}\n`);
  process.exit(2);
}

mkdirSync(values.out, { recursive: true });
const here = machine();
const report = openReport(values.out, here, { quick: values.quick });
const context = { root, out: values.out, quick: values.quick, machine: here, shapes: values.shapes?.split(',') };
for (const step of STEPS) {
  if (!wanted.includes(step.name) || (values.quick && step.long)) continue;
  sayStep(`${step.name}: ${step.title}`);
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 100) / 10;
  try {
    const figures = await step.run(context);
    const failed = figures.failures?.length ?? 0;
    report.add({ name: step.name, title: step.title, state: failed ? 'failed' : 'ok', seconds: seconds(), ...figures });
    failed ? sayProblem(`${step.name}: ${failed} of what was tried failed`) : sayDone(`${step.name} (${seconds()} s)`);
  } catch (error) {
    report.add({
      name: step.name,
      title: step.title,
      state: 'failed',
      seconds: seconds(),
      error: String(error.message ?? error),
    });
    sayProblem(`${step.name}: ${String(error.message ?? error).split('\n')[0]}`);
  }
}
sayDone(`report: ${report.markdown}`);
process.exitCode = report.failed() ? 1 : 0;
