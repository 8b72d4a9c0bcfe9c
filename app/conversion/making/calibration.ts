import type { LoadOptions, Model } from '../../../native/addon/index.d.ts';
import { abortFlag } from '../../engine/process/addon.ts';
import { textIfAny } from '../../engine/process/model/tokenizer-files.ts';
import { LonghandError } from '../../protocol/index.ts';
import { manual } from './manual.ts';
import type { Workshop } from './workshop.ts';

/** Calibration tokens in total, and per window. */
const TOKENS = 4096;
const WINDOW = 512;
/** A text of the user's, or lists of token ids; `name`: of its file. */
export type Calibration = { name: string; content: string | Int32Array[] };

export type Seen = Awaited<ReturnType<Model['observed']>>;

/** A model that has read the calibration text while its matrices were observed. */
export type ObservedModel = { model: Model; windows: Int32Array[]; calibration: string };

/** Loads the model and has it read the calibration text. The caller closes it. */
export async function readObserved(
  workshop: Workshop,
  path: string,
  given: Calibration | undefined,
  what: NonNullable<LoadOptions['observe']>,
): Promise<ObservedModel> {
  const { addon, signal } = workshop;
  const { flag, release } = abortFlag(addon, signal);
  const bar = workshop.progress('calibrating');
  const model = await addon.load(path, { observe: what, signal: flag });
  try {
    if (model.description.encoder)
      throw new LonghandError(
        'model-unsupported',
        '[--calibration] an encoder does not write text; choose a model that does',
      );
    const windows = await windowsOf(workshop, path, given, model);
    const session = model.createSession({ path: 'exact' });
    for (const [done, window] of windows.entries()) {
      bar.show(done, windows.length);
      // The last token is only scored, not read: one more is appended.
      await session.score(Int32Array.from([...window, window.at(-1) ?? 0]), { path: 'exact', signal: flag });
    }
    const count = windows.reduce((sum, { length }) => sum + length, 0);
    return { model, windows, calibration: `${count} tokens of ${given?.name ?? 'the manual'}` };
  } catch (error) {
    model.close();
    throw error;
  } finally {
    bar.end();
    release();
  }
}

/** Statistics of the inputs of its matrices while the model reads the calibration text. */
export async function observe(
  workshop: Workshop,
  path: string,
  given: Calibration | undefined,
  what: NonNullable<LoadOptions['observe']>,
): Promise<{ seen: Seen } & Omit<ObservedModel, 'model'>> {
  const { model, ...read } = await readObserved(workshop, path, given, what);
  try {
    return { seen: await model.observed(), ...read };
  } finally {
    model.close();
  }
}

/** What is read, a window at a time. @throws LonghandError `bad-request` */
async function windowsOf(
  workshop: Workshop,
  path: string,
  given: Calibration | undefined,
  { contextLength, vocabularySize }: Pick<Model, 'contextLength' | 'vocabularySize'>,
): Promise<Int32Array[]> {
  const content = given?.content;
  const lists = typeof content === 'object' ? content : await tokensOf(workshop, path, content);
  const windows = lists.flatMap((ids) => cut(ids, Math.min(WINDOW, contextLength))).filter(({ length }) => length > 1);
  check(windows, vocabularySize);
  return windows;
}

async function tokensOf(workshop: Workshop, path: string, given: string | undefined): Promise<Int32Array[]> {
  const text = await textIfAny(workshop.addon, path);
  if (text === null) {
    throw new LonghandError(
      'bad-request',
      '[--calibration] this model has no tokenizer and cannot read text; give JSON lists of token ids, [[1, 2, 3], ...]',
    );
  }
  return [
    Int32Array.from([
      ...text.before,
      ...text.tokenizer.encodeText(given ?? manual(workshop.manual, 'calibrate')),
    ]).slice(0, TOKENS),
  ];
}

const cut = (ids: Int32Array, length: number): Int32Array[] =>
  Array.from({ length: Math.ceil(ids.length / length) }, (_, i) => ids.slice(i * length, (i + 1) * length));

function check(windows: readonly Int32Array[], vocabulary: number): void {
  if (windows.length === 0)
    throw new LonghandError('bad-request', '[--calibration] got fewer than two tokens; at least a page is useful');
  const wrong = windows.flatMap((ids) => [...ids]).find((id) => id < 0 || id >= vocabulary);
  if (wrong !== undefined)
    throw new LonghandError(
      'bad-request',
      `[--calibration] token ${wrong} does not exist; expected 0 to ${vocabulary - 1}`,
    );
}
