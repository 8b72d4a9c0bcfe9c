import { existsSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { KvType } from '../../../../native/addon/index.d.ts';
import { LonghandError, type QualityResult, READING_METRICS, type ReadingMetric } from '../../../protocol/index.ts';
import { readQuestions } from '../../../quality/choices.ts';
import {
  choicesFrom,
  needlesFrom,
  type Reading,
  readingFrom,
  reasoningFrom,
} from '../../../quality/evaluation/questions.ts';
import { type Stage, type Subject, withSubject } from '../../../quality/evaluation/subject.ts';
import { cut, divergenceFrom, perplexityFrom, referenceFrom } from '../../../quality/evaluation/texts.ts';
import { readTextQuestions } from '../../../quality/reading.ts';
import { readReference, writeReference } from '../../../quality/reference-file.ts';
import { jsonOf } from '../../../quality/report.ts';
import { straight } from '../../../quality/step.ts';
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
import { openModel } from '../../runtime/open-model.ts';
import { outputFile } from '../../runtime/safetensors.ts';
import { linesOf } from './eval-report.ts';

const FLAGS = {
  ...MODEL_FLAGS,
  ...PRECISION_FLAG,
  cache: {
    kind: 'text',
    value: 'f32|f16|q8|q4',
    oneOf: ['f32', 'f16', 'q8', 'q4'],
    help: 'precision of the context memory (default: f16; f32 for answers with --precision exact)',
  },
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
  reading: { kind: 'text', value: 'FILE', help: 'questions about texts as in LongBench, one JSON object per line' },
  metric: {
    kind: 'text',
    value: 'f1|rouge-l|exact',
    oneOf: READING_METRICS,
    help: 'with --reading: how an answer is compared with the right one (default: f1)',
  },
  longest: {
    kind: 'count',
    value: 'N',
    help: 'with --reading: tokens per prompt; the middle of a longer text is left out (default: 8192)',
  },
  needle: { kind: 'yes', help: 'find a sentence hidden in long texts' },
  lengths: { kind: 'ids', value: '1024,4096', help: 'with --needle: text lengths in tokens (default: 512,1024,2048)' },
  depths: {
    kind: 'ids',
    value: '0,50,100',
    help: 'with --needle: positions of the sentence in percent (default: 0,25,50,75,100)',
  },
  reasoning: { kind: 'yes', help: 'reasoning problems; counts right answers, answers and loops' },
  problems: { kind: 'count', value: 'N', help: 'with --reasoning: problems of each of the five kinds (default: 12)' },
  'max-tokens': {
    kind: 'count',
    value: 'N',
    help: 'with --reading and --reasoning: maximum tokens per answer (default: 64 and 1024)',
  },
  seed: { kind: 'count', value: 'S', help: 'with --needle and --reasoning: chooses the texts' },
} as const satisfies Flags;
type EvalValues = Values<typeof FLAGS>;

export const evaluate = command({
  name: 'eval',
  summary:
    'Evaluate a model: perplexity, divergence from another model, multiple choice, questions about texts, reasoning.',
  usage: '--model PATH --text FILE [--reference PATH] | --choices FILE | --reading FILE | --needle | --reasoning',
  flags: FLAGS,
  async run(context, values) {
    const asked = [values.text, values.choices, values.reading, values.needle, values.reasoning].filter(
      (one) => one !== undefined && one !== false,
    );
    if (asked.length !== 1)
      throw new UsageError('[eval] give one of --text FILE, --choices FILE, --reading FILE, --needle and --reasoning');
    if (values.text === undefined && (values.reference ?? values['save-reference']) !== undefined)
      throw new UsageError('[eval] --reference and --save-reference go with --text FILE');
    const result: QualityResult =
      values.text !== undefined
        ? await ofText(context, values, values.text)
        : await withModel<QualityResult>(context, values, values.model, (subject) =>
            values.choices !== undefined
              ? choicesFrom(subject, readQuestions(fileOf(context, values.choices)))
              : values.reading !== undefined
                ? readingFrom(subject, readTextQuestions(fileOf(context, values.reading)), readingOf(values))
                : values.needle
                  ? needlesFrom(subject, needlesOf(values))
                  : reasoningFrom(subject, {
                      problems: values.problems ?? 12,
                      maxTokens: values['max-tokens'] ?? 1024,
                      seed: values.seed ?? 1,
                    }),
          );
    context.terminal.out(context.json ? `${JSON.stringify(jsonOf(result))}\n` : `${linesOf(result).join('\n')}\n`);
    return 0;
  },
});

const readingOf = ({ metric = 'f1', longest = 8192, 'max-tokens': maxTokens = 64 }: EvalValues): Reading => ({
  metric: metric as ReadingMetric,
  longest,
  maxTokens,
});

function needlesOf({ lengths = [512, 1024, 2048], depths = [0, 25, 50, 75, 100], seed = 1 }: EvalValues) {
  if (depths.some((depth) => depth > 100)) throw new UsageError('[eval] --depths takes percentages, 0 to 100');
  return { lengths, depths, seed };
}

function fileOf(context: Context, name: string): string {
  const path = resolve(context.places.here, name);
  if (!existsSync(path) || !statSync(path).isFile())
    throw new LonghandError('bad-request', `[eval] ${path} is not a file`);
  return readFileSync(path, 'utf8');
}

/** The titles of the progress bars. */
const TITLES: Record<Stage, string> = {
  loading: 'loading',
  reference: 'reading the reference',
  scoring: 'scoring',
  comparing: 'comparing',
  asking: 'asking',
  prompt: 'reading',
};

async function withModel<T>(
  context: Context,
  values: EvalValues,
  model: string | undefined,
  work: (subject: Subject) => Promise<T>,
): Promise<T> {
  const opened = await openModel(context, { ...values, ...(model !== undefined && { model }) });
  const surroundings = {
    addon: opened.addon,
    worker: context.places.worker,
    signal: context.signal,
    progress: (stage: Stage) => context.terminal.progress(TITLES[stage]),
    step: straight,
  };
  try {
    const kvType = values.cache as KvType | undefined;
    return await withSubject(surroundings, { ...opened, precision: numericPath(values.precision), kvType }, work);
  } finally {
    opened.close();
  }
}

async function ofText(context: Context, values: EvalValues, file: string): Promise<QualityResult> {
  const written = fileOf(context, file);
  const saved = values.reference === undefined ? null : resolve(context.places.here, values.reference);
  const isFile = saved !== null && existsSync(saved) && statSync(saved).isFile() && !saved.endsWith('.gguf');
  const stored = isFile ? await readReference(saved) : null;
  const reference =
    stored ??
    (values.reference === undefined
      ? null
      : await withModel(context, { ...values, cache: 'f16' }, values.reference, (subject) =>
          referenceFrom(subject, cut(subject, written, values), values.reference as string),
        ));
  return await withModel(context, values, values.model, async (subject) => {
    const windows = cut(subject, written, values);
    if (values['save-reference'] !== undefined) {
      const path = outputFile(context.places.here, values['save-reference']);
      await writeReference(path, await referenceFrom(subject, windows, values.model ?? 'built in'));
    }
    return reference === null
      ? await perplexityFrom(subject, windows, written)
      : await divergenceFrom(subject, windows, reference);
  });
}
