import { LonghandError } from '../../../protocol/index.ts';
import { askChoices, readQuestions } from '../../../quality/choices.ts';
import { shareOf } from '../../../quality/interval.ts';
import { needleIn } from '../../../quality/needle.ts';
import { type Outcome, outcomeOf, type Problem, problemsOf, reportOf } from '../../../quality/reasoning.ts';
import { promptOf } from '../../../text/chat-template.ts';
import { createTemplateRenderer } from '../../../text/jinja/template-renderer.ts';
import { type Answer, answer, type SamplingValues } from '../../runtime/answer.ts';
import { type Context, UsageError } from '../../runtime/command.ts';
import { type Evaluated, fileOf, percent, progressOf, type Report, rounded } from './eval-report.ts';

export async function ofChoices(context: Context, { text, score }: Evaluated, file: string): Promise<Report> {
  const questions = readQuestions(fileOf(context, file));
  const bar = progressOf(context, 'asking', questions.length);
  const encode = (written: string) => [...text.before, ...text.tokenizer.encodeText(written)];
  const found = await askChoices(score, encode, questions, bar.show).finally(bar.end);
  return {
    json: {
      accuracy: rounded(found.accuracy),
      accuracy_normalised: rounded(found.normalised),
      questions: found.questions,
    },
    lines: [
      `right ${percent(found.accuracy)}, length-normalised ${percent(found.normalised)}, of ${found.questions} questions`,
    ],
  };
}

type NeedleValues = { readonly lengths?: number[]; readonly depths?: number[]; readonly seed?: number };

export async function ofNeedles(context: Context, model: Evaluated, values: NeedleValues): Promise<Report> {
  const { text } = model;
  const lengths = values.lengths ?? [512, 1024, 2048];
  const depths = values.depths ?? [0, 25, 50, 75, 100];
  if (depths.some((depth) => depth > 100)) throw new UsageError('[eval] --depths takes percentages, 0 to 100');
  const rows: { length: number; depth: number; found: boolean; said: string }[] = [];
  await asking(context, model, lengths.length * depths.length, { 'max-tokens': 48 }, async (ask) => {
    for (const length of lengths)
      for (const depth of depths) {
        const seed = (values.seed ?? 1) * 1009 + rows.length;
        const hidden = needleIn(length, depth / 100, seed, (written) => text.tokenizer.encodeText(written).length);
        const said = await ask(`${hidden.text}\n\n${hidden.question}`, false);
        rows.push({ length, depth, found: said.text.includes(hidden.answer), said: said.text });
      }
  });
  const found = shareOf(rows.filter((row) => row.found).length, rows.length);
  const cell = (length: number, depth: number) =>
    rows.find((row) => row.length === length && row.depth === depth)?.found ? 'found' : '–';
  return {
    json: { found: rounded(found), texts: rows },
    lines: [
      ['tokens', ...depths.map((depth) => `${depth} %`)].join('\t'),
      ...lengths.map((length) => [String(length), ...depths.map((depth) => cell(length, depth))].join('\t')),
      `found ${percent(found)}`,
    ],
  };
}

type ReasoningValues = { readonly problems?: number; readonly 'max-tokens'?: number; readonly seed?: number };

export async function ofReasoning(context: Context, model: Evaluated, values: ReasoningValues): Promise<Report> {
  const problems = problemsOf(values.seed ?? 1, values.problems ?? 12);
  const attempts: { problem: Problem; outcome: Outcome; said: string }[] = [];
  const sampling = { 'max-tokens': values['max-tokens'] ?? 1024, 'loop-guard': 'balanced' };
  await asking(context, model, problems.length, sampling, async (ask) => {
    for (const problem of problems) {
      const { text, finish } = await ask(problem.question, null);
      attempts.push({ problem, outcome: outcomeOf(problem, text, finish), said: text });
    }
  });
  const { kinds, right, answered, looped } = reportOf(attempts);
  return {
    json: {
      right: rounded(right),
      answered: rounded(answered),
      looped: rounded(looped),
      kinds,
      attempts: attempts.map(({ problem, ...attempt }) => ({ ...problem, expected: problem.answer, ...attempt })),
    },
    lines: [
      ['problems', 'of', 'right', 'answered', 'looped'].join('\t'),
      ...kinds.map((row) => [row.kind, row.problems, row.right, row.answered, row.looped].join('\t')),
      `right ${percent(right)}, answered ${percent(answered)}, looped ${percent(looped)}`,
    ],
  };
}

type Said = Omit<Answer, 'finish'> & { finish: Exclude<Answer['finish'], 'cancelled'> };

/** One session, asked `count` times with greedy decoding. `thinking`: null leaves it to the model. */
async function asking(
  context: Context,
  { opened, text, path }: Evaluated,
  count: number,
  sampling: SamplingValues,
  work: (ask: (content: string, thinking: boolean | null) => Promise<Said>) => Promise<void>,
): Promise<void> {
  const { template } = text;
  if (template === null)
    throw new LonghandError('template-failed', '[eval] questions need a chat template, and the model has none');
  const renderer = createTemplateRenderer({ worker: context.places.worker });
  const bar = progressOf(context, 'asking', count);
  const session = opened.native.createSession(path ? { path } : {});
  let done = 0;
  try {
    await work(async (content, thinking) => {
      const messages = [{ role: 'user' as const, content }];
      const prompt = await promptOf({ ...text, template }, renderer, { messages, thinking });
      const values = { ...sampling, temperature: 0 };
      const said = await answer(context, {
        model: opened,
        text,
        session,
        prompt: prompt.ids,
        inThinking: prompt.inThinking,
        values,
        path,
        onPart: () => {},
      });
      if (said.finish === 'cancelled') throw new LonghandError('cancelled', '[eval] stopped');
      bar.show(++done);
      return { ...said, finish: said.finish };
    });
  } finally {
    bar.end();
    session.close();
    await renderer.close();
  }
}
