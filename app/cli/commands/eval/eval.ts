import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { abortFlag } from '../../../engine/process/addon.ts';
import { LonghandError } from '../../../protocol/index.ts';
import { divergenceOf } from '../../../quality/divergence.ts';
import { perplexityOf, positionsOf } from '../../../quality/perplexity.ts';
import {
  type Reference,
  readReference,
  takeReference,
  textHash,
  writeReference,
} from '../../../quality/reference-file.ts';
import type { Scorer } from '../../../quality/scorer.ts';
import { type Window, windowsOf } from '../../../quality/windows.ts';
import {
  type Context,
  command,
  type Flags,
  MODEL_FLAGS,
  numericPath,
  PRECISION_FLAG,
  UsageError,
  type Values,
} from '../../runtime/command.ts';
import { openModel, textOf } from '../../runtime/open-model.ts';
import { outputFile } from '../../runtime/safetensors.ts';
import { ofChoices, ofNeedles, ofReasoning } from './eval-questions.ts';
import { type Evaluated, fileOf, percent, progressOf, type Report, rounded, shown } from './eval-report.ts';

const FLAGS = {
  ...MODEL_FLAGS,
  ...PRECISION_FLAG,
  text: { kind: 'text', value: 'FILE', help: 'perplexity of this text' },
  reference: {
    kind: 'text',
    value: 'PATH',
    help: 'with --text: divergence from this model or saved reference',
  },
  'save-reference': {
    kind: 'text',
    value: 'FILE',
    help: 'with --text: save this model’s predictions for --reference',
  },
  window: { kind: 'count', value: 'N', help: 'tokens per window (default: 2048, or the context size if smaller)' },
  stride: { kind: 'count', value: 'N', help: 'tokens between window starts (default: half a window)' },
  choices: { kind: 'text', value: 'FILE', help: 'multiple-choice questions, one JSON object per line' },
  needle: { kind: 'yes', help: 'find a sentence hidden in long texts' },
  lengths: { kind: 'ids', value: '1024,4096', help: 'with --needle: text lengths in tokens (default: 512,1024,2048)' },
  depths: {
    kind: 'ids',
    value: '0,50,100',
    help: 'with --needle: positions of the sentence in percent (default: 0,25,50,75,100)',
  },
  reasoning: { kind: 'yes', help: 'reasoning problems; counts right answers, answers and loops' },
  problems: { kind: 'count', value: 'N', help: 'with --reasoning: problems of each of the five kinds (default: 12)' },
  'max-tokens': { kind: 'count', value: 'N', help: 'with --reasoning: maximum tokens per problem (default: 1024)' },
  seed: { kind: 'count', value: 'S', help: 'with --needle and --reasoning: chooses the texts' },
} as const satisfies Flags;
type EvalValues = Values<typeof FLAGS>;

export const evaluate = command({
  name: 'eval',
  summary: 'Evaluate a model: perplexity, divergence from another model, multiple choice, long texts, reasoning.',
  usage: '--model PATH --text FILE [--reference PATH] | --choices FILE | --needle | --reasoning',
  flags: FLAGS,
  async run(context, values) {
    const asked = [values.text, values.choices, values.needle, values.reasoning].filter(
      (one) => one !== undefined && one !== false,
    );
    if (asked.length !== 1)
      throw new UsageError('[eval] give one of --text FILE, --choices FILE, --needle and --reasoning');
    if (values.text === undefined && (values.reference ?? values['save-reference']) !== undefined)
      throw new UsageError('[eval] --reference and --save-reference go with --text FILE');
    const report =
      values.text !== undefined
        ? await ofText(context, values, values.text)
        : await withModel(context, values, values.model, (model) =>
            values.choices !== undefined
              ? ofChoices(context, model, values.choices)
              : values.needle
                ? ofNeedles(context, model, values)
                : ofReasoning(context, model, values),
          );
    context.terminal.out(context.json ? `${JSON.stringify(report.json)}\n` : `${report.lines.join('\n')}\n`);
    return 0;
  },
});

async function withModel<T>(
  context: Context,
  values: EvalValues,
  model: string | undefined,
  work: (model: Evaluated) => Promise<T>,
): Promise<T> {
  const opened = await openModel(context, { ...values, ...(model !== undefined && { model }) });
  const { flag, release } = abortFlag(opened.addon, context.signal);
  try {
    const text = await textOf(opened.addon, opened.path);
    const path = numericPath(values.precision);
    const session = opened.native.createSession();
    const score: Scorer = (tokens, options) =>
      session.score(tokens, { ...options, at: [...(options.at ?? [])], path: path ?? 'exact', signal: flag });
    return await work({ opened, text, score, path });
  } finally {
    release();
    opened.close();
  }
}

async function ofText(context: Context, values: EvalValues, file: string): Promise<Report> {
  const written = fileOf(context, file);
  const saved = values.reference === undefined ? null : resolve(context.places.here, values.reference);
  const isFile = saved !== null && existsSync(saved) && statSync(saved).isFile() && !saved.endsWith('.gguf');
  const stored = isFile ? await readReference(saved) : null;
  const reference =
    stored ??
    (values.reference === undefined
      ? null
      : await withModel(context, values, values.reference, (model) =>
          referenceOf(context, model, cut(model, values, written), values.reference as string),
        ));
  return await withModel(context, values, values.model, async (model) => {
    const windows = cut(model, values, written);
    if (values['save-reference'] !== undefined) {
      const path = outputFile(context.places.here, values['save-reference']);
      await writeReference(path, await referenceOf(context, model, windows, values.model ?? 'built in'));
    }
    return reference === null
      ? await perplexity(context, model, windows)
      : await divergence(context, model, windows, reference);
  });
}

function cut({ opened, text }: Evaluated, values: EvalValues, written: string): Window[] {
  const { tokenizer, before } = text;
  const tokens = Int32Array.from([...before, ...tokenizer.encodeText(written)]);
  const length = values.window ?? Math.min(2048, opened.native.contextLength);
  return windowsOf(tokens, length, values.stride ?? Math.max(1, Math.floor(length / 2)));
}

async function referenceOf(context: Context, model: Evaluated, windows: Window[], name: string): Promise<Reference> {
  const bar = progressOf(context, 'reading the reference', positionsOf(windows));
  try {
    return await takeReference(model.score, name, windows, model.opened.native.vocabularySize, bar.show);
  } finally {
    bar.end();
  }
}

async function perplexity(context: Context, model: Evaluated, windows: Window[]): Promise<Report> {
  const bar = progressOf(context, 'scoring', positionsOf(windows));
  const { perplexity, tokens } = await perplexityOf(model.score, windows, bar.show).finally(bar.end);
  return {
    json: { perplexity: rounded(perplexity), tokens },
    lines: [`perplexity ${shown(perplexity)} over ${tokens} tokens`],
  };
}

async function divergence(
  context: Context,
  model: Evaluated,
  windows: Window[],
  reference: Reference,
): Promise<Report> {
  if (reference.text !== textHash(windows)) {
    throw new LonghandError(
      'bad-request',
      `[eval] the reference of ${reference.model} was made from another text, tokenizer or window size`,
    );
  }
  const bar = progressOf(context, 'comparing', positionsOf(windows));
  const found = await divergenceOf(model.score, windows, reference, bar.show).finally(bar.end);
  return {
    json: {
      kld: rounded(found.kld),
      kld_99: found.kld99,
      same_top: rounded(found.sameTop),
      perplexity: rounded(found.perplexity),
      reference_perplexity: rounded(found.referencePerplexity),
      tokens: found.tokens,
      reference: reference.model,
    },
    lines: [
      `divergence (KLD) ${shown(found.kld, 5)} nats per token; worst 1 % above ${found.kld99.toFixed(4)}`,
      `same top token ${percent(found.sameTop)}`,
      `perplexity ${shown(found.perplexity)}, reference ${shown(found.referencePerplexity)}`,
      `over ${found.tokens} tokens, compared with ${reference.model}`,
    ],
  };
}
