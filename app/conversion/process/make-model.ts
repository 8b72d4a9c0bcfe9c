import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type * as Addon from '../../../native/addon/index.d.ts';
import { LonghandError, type ShrinkForm, shrunkBytes } from '../../protocol/index.ts';
import { formsOf, openOrigin } from '../making/forms.ts';
import { make } from '../making/quantise.ts';
import type { Progress, Stage, Workshop } from '../making/workshop.ts';
import { checkRoom } from '../output.ts';
import type { FromConverter, Job } from './messages.ts';

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
export async function makeModel({ addon, manual, signal, tell }: Surroundings, job: Job): Promise<Made> {
  const origin = await openOrigin(addon, job.source);
  const forms = await formsOf(addon, origin);
  if (forms.quantised && !job.again) {
    throw new LonghandError('conflict', `[shrink] ${job.source} is quantised already; to do it again has to be said`, {
      details: { reason: 'shrink-quantised' },
    });
  }
  const size = forms.sizes.find(({ form }) => sameForm(form, job.form));
  if (!size) {
    throw new LonghandError('bad-request', `[shrink] ${nameOfForm(job.form)} is not smaller than ${job.source}`, {
      details: { reason: 'shrink-no-smaller' },
    });
  }
  await checkRoom(job.out, shrunkBytes(size.bytes, job.method));
  tell({ begun: true });
  const progress = sparingly((phase, share) => tell({ progress: { phase, share } }));
  const workshop = { addon, manual, signal, command: commandOf(job), progress: stagesTo(progress) };
  await make(workshop, {
    ...origin,
    out: job.out,
    known: job.known,
    ...(job.form.format === 'mlx'
      ? { bits: job.form.bits, group: job.form.group, gguf: null }
      : { bits: 0, group: 0, gguf: job.form.type }),
    method: job.method,
    target: null,
    calibration: undefined,
    measures: true,
  });
  return filesOf(job.form.format === 'mlx' ? job.out : dirname(job.out), signal, progress);
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
function commandOf({ source, known, form, method, again }: Job): string {
  const quoted = (path: string) => (/[^\w./@-]/.test(path) ? JSON.stringify(path) : path);
  const kind = form.format === 'mlx' ? `--bits ${form.bits} --group ${form.group}` : `--format gguf:${form.type}`;
  const command = `longhand quantize --model ${quoted(source)} --out ${quoted(known)} ${kind} --method ${method}`;
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
    return shares((share) => [stage === 'converting' ? 'writing' : stage, share]);
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
