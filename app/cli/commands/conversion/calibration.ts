import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LoadOptions, Model } from '../../../../native/addon/index.d.ts';
import { LonghandError } from '../../../protocol/index.ts';
import type { Context } from '../../runtime/command.ts';
import { abortFlag, addonOf, textIfAny } from '../../runtime/open-model.ts';
import { manual } from './quality-card.ts';

/** Calibration tokens in total, and per window. */
const TOKENS = 4096;
const WINDOW = 512;
/** Longer calibration texts add nothing. */
const MAX_BYTES = 64 * 1024 * 1024;

export type Seen = Awaited<ReturnType<Model['observed']>>;

/** Runs the model over the calibration text and collects statistics of the inputs of its matrices. */
export async function observe(
  context: Context,
  path: string,
  file: string | undefined,
  what: NonNullable<LoadOptions['observe']>,
): Promise<{ seen: Seen; calibration: string }> {
  const addon = addonOf(context);
  const given = file === undefined ? undefined : readCalibration(context, file);
  const { flag, release } = abortFlag(addon, context.signal);
  const bar = context.terminal.progress('calibrating');
  const model = await addon.load(path, { observe: what, signal: flag });
  try {
    if (model.description.encoder)
      throw new LonghandError(
        'model-unsupported',
        '[--calibration] an encoder does not write text; choose a model that does',
      );
    const lists = typeof given === 'object' ? given : await tokensOf(context, path, given);
    const windows = lists
      .flatMap((ids) => cut(ids, Math.min(WINDOW, model.contextLength)))
      .filter(({ length }) => length > 1);
    check(windows, model.vocabularySize);
    const session = model.createSession({ path: 'exact' });
    for (const [done, window] of windows.entries()) {
      bar.show(done, windows.length);
      // The last token is only scored, not read: one more is appended.
      await session.score(Int32Array.from([...window, window.at(-1) ?? 0]), { path: 'exact', signal: flag });
    }
    const count = windows.reduce((sum, { length }) => sum + length, 0);
    return { seen: await model.observed(), calibration: `${count} tokens of ${file ?? 'the manual'}` };
  } finally {
    bar.end();
    release();
    model.close();
  }
}

async function tokensOf(context: Context, path: string, given: string | undefined): Promise<Int32Array[]> {
  const text = await textIfAny(addonOf(context), path);
  if (text === null) {
    throw new LonghandError(
      'bad-request',
      '[--calibration] this model has no tokenizer and cannot read text; give JSON lists of token ids, [[1, 2, 3], ...]',
    );
  }
  return [
    Int32Array.from([...text.before, ...text.tokenizer.encodeText(given ?? manual(context, 'calibrate'))]).slice(
      0,
      TOKENS,
    ),
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

/** A text, or lists of token ids. */
function readCalibration(context: Context, name: string): string | Int32Array[] {
  const path = resolve(context.places.here, name);
  const fail = (why: string) => new LonghandError('bad-request', `[--calibration] ${path} ${why}`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw fail('is not a file');
  if (stats.size > MAX_BYTES) throw fail(`has ${stats.size} bytes, at most ${MAX_BYTES} are allowed`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw fail(
      error instanceof TypeError ? 'is not text: its bytes are not UTF-8' : `cannot be read: ${String(error)}`,
    );
  }
  if (text.trim() === '') throw fail('is empty');
  return idsIn(text) ?? text;
}

/** `[[1, 2], [3]]`, or the same as `calibration_batch` of an object. */
function idsIn(text: string): Int32Array[] | null {
  if (!/^\s*[[{]/.test(text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const lists = Array.isArray(value) ? value : ((value as Record<string, unknown>).calibration_batch ?? null);
  const isIds = (ids: unknown) => Array.isArray(ids) && ids.every((id) => Number.isInteger(id));
  return Array.isArray(lists) && lists.length > 0 && lists.every(isIds)
    ? lists.map((ids) => Int32Array.from(ids))
    : null;
}
