import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type * as Addon from '../../../native/addon/index.d.ts';
import { textIfAny } from '../../engine/process/model/tokenizer-files.ts';
import { LonghandError, readsText, type ShrinkForm, shrunkBytes } from '../../protocol/index.ts';
import { formsOf, openOrigin } from '../making/forms.ts';
import { checkLatent, convert, headsOf, latentSizeOf } from '../making/latent.ts';
import type { Origin } from '../making/origin.ts';
import { make } from '../making/quantise.ts';
import type { Progress, Stage, Workshop } from '../making/workshop.ts';
import { checkRoom } from '../output.ts';
import type { FromConverter, Goal, Job } from './messages.ts';

type Surroundings = {
  addon: typeof Addon;
  manual: string;
  signal: AbortSignal;
  tell: (message: FromConverter) => void;
};

type Made = Extract<FromConverter, { made: unknown }>['made'];
type Phase = Extract<FromConverter, { progress: unknown }>['progress']['phase'];
type Show = (phase: Phase, share: number) => void;

const REPORT_MS = 200;

/** Checks, makes and measures a model. Returns its files.
 *  @throws LonghandError; then nothing is left of it */
export async function makeModel(surroundings: Surroundings, job: Job): Promise<Made> {
  const { addon, manual, signal, tell } = surroundings;
  const origin = await openOrigin(addon, job.source);
  const progress = sparingly((phase, share) => tell({ progress: { phase, share } }));
  const workshop = { addon, manual, signal, command: commandOf(job), progress: stagesTo(progress) };
  const { goal } = job;
  if (goal.kind === 'weights') await makeSmaller(workshop, origin, job, goal, tell);
  else await makeLatent(workshop, origin, job, goal, tell);
  const inFile = goal.kind === 'weights' && goal.form.format === 'gguf';
  return filesOf(inFile ? dirname(job.out) : job.out, signal, progress);
}

async function makeSmaller(
  workshop: Workshop,
  origin: Origin,
  { source, out, known }: Job,
  { form, method, again }: Extract<Goal, { kind: 'weights' }>,
  tell: Surroundings['tell'],
): Promise<void> {
  const forms = await formsOf(workshop.addon, origin);
  if (forms.quantised && !again) {
    throw new LonghandError('conflict', `[shrink] ${source} is quantised already; to do it again has to be said`, {
      details: { reason: 'shrink-quantised' },
    });
  }
  const size = forms.sizes.find((one) => sameForm(one.form, form));
  if (!size) {
    throw new LonghandError('bad-request', `[shrink] ${nameOfForm(form)} is not smaller than ${source}`, {
      details: { reason: 'shrink-no-smaller' },
    });
  }
  await checkRoom(out, shrunkBytes(size.bytes, method));
  tell({ begun: true });
  await make(workshop, {
    ...origin,
    out,
    known,
    ...(form.format === 'mlx'
      ? { bits: form.bits, group: form.group, gguf: null }
      : { bits: 0, group: 0, gguf: form.type }),
    method,
    target: null,
    divergence: null,
    calibration: undefined,
    measures: true,
  });
}

async function makeLatent(
  workshop: Workshop,
  origin: Origin,
  { source, out, known }: Job,
  { form }: Extract<Goal, { kind: 'context' }>,
  tell: Surroundings['tell'],
): Promise<void> {
  checkLatent(headsOf(origin.described), form);
  if (readsText(form) && (await textIfAny(workshop.addon, source)) === null)
    throw new LonghandError(
      'bad-request',
      `[shrink] ${source} has no tokenizer; without a text no pairs or weights can be chosen`,
    );
  const size = latentSizeOf(workshop.addon, origin.described, form);
  if (size.contextBytesPerToken >= origin.described.contextBytesPerToken) {
    throw new LonghandError(
      'bad-request',
      `[shrink] ${form.pairs} pairs and rank ${form.rank} keep as much as ${source}`,
      {
        details: { reason: 'latent-no-smaller' },
      },
    );
  }
  await checkRoom(out, size.weightBytes);
  tell({ begun: true });
  await convert(workshop, {
    ...origin,
    out,
    known,
    form,
    layout: 'published',
    byLayer: false,
    calibration: undefined,
    measures: true,
  });
}

/** Every phase once, then a few times a second. */
function sparingly(show: Show): Show {
  let last: Phase | null = null;
  let told = 0;
  return (phase, share) => {
    if (phase === last && performance.now() - told < REPORT_MS) return;
    last = phase;
    told = performance.now();
    show(phase, share);
  };
}

/** Also of the values that a page sent, whatever the order of their fields. */
const sameForm = (a: ShrinkForm, b: ShrinkForm): boolean => nameOfForm(a) === nameOfForm(b);

const nameOfForm = (form: ShrinkForm): string =>
  form.format === 'mlx' ? `mlx ${form.bits} ${form.group}` : `gguf ${form.type}`;

/** The command that makes the same model. */
function commandOf({ source, known, goal }: Job): string {
  const quoted = (path: string) => (/[^\w./@-]/.test(path) ? JSON.stringify(path) : path);
  const paths = `--model ${quoted(source)} --out ${quoted(known)}`;
  if (goal.kind === 'context') {
    const { rope, pairs, svd, rank } = goal.form;
    return `longhand convert --mla ${paths} --rope ${rope} --pairs ${pairs} --svd ${svd} --rank ${rank}`;
  }
  const { form, method, again } = goal;
  const kind = form.format === 'mlx' ? `--bits ${form.bits} --group ${form.group}` : `--format gguf:${form.type}`;
  const command = `longhand quantize ${paths} ${kind} --method ${method}`;
  return again ? `${command} --yes` : command;
}

/** The stages of a run as phases, of which measuring has four parts: both models are loaded, and read a text. */
function stagesTo(show: Show): Workshop['progress'] {
  let loads = 0;
  const shares = (place: (share: number) => [Phase, number]): Progress => ({
    show: (done, total) => total > 0 && show(...place(Math.min(1, done / total))),
    end() {},
  });
  return (stage: Stage) => {
    if (stage === 'loading') loads++;
    const first = stage === 'loading' ? 2 * loads - 2 : 2 * loads - 1;
    if (stage === 'loading' || stage === 'measuring') return shares((share) => ['measuring', (first + share) / 4]);
    return shares((share) => [stage, share]);
  };
}

async function filesOf(folder: string, signal: AbortSignal, show: Show): Promise<Made> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let read = 0;
  const files: Made = [];
  for (const [at, name] of names.entries()) {
    const hash = createHash('sha256');
    for await (const piece of createReadStream(join(folder, name)) as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      hash.update(piece);
      read += piece.length;
      show('checking', Math.min(1, read / Math.max(1, total)));
    }
    files.push({ name, size: sizes[at] ?? 0, sha256: hash.digest('hex') });
  }
  return files;
}
