import { readFile } from 'node:fs/promises';
import type { GrammarText } from '../../engine/ipc-protocol.ts';
import { boundAnswer, createGrammars } from '../../engine/process/model/grammars.ts';
import { textIfAny } from '../../engine/process/model/tokenizer-files.ts';
import { LonghandError, PictureDetail } from '../../protocol/index.ts';
import { promptOf } from '../../text/chat-template.ts';
import { createTemplateRenderer } from '../../text/jinja/template-renderer.ts';
import type { ModelText } from '../../text/model-text.ts';
import { opensThinking, type Part } from '../../text/thinking.ts';
import { answer, SAMPLING_FLAGS, THINKING_FLAG, thinkLimitOf, timingsOf } from '../runtime/answer.ts';
import { cacheReport } from '../runtime/cache-report.ts';
import {
  type Context,
  command,
  type Flags,
  MODEL_FLAGS,
  numericPath,
  PRECISION_FLAG,
  UsageError,
  type Values,
} from '../runtime/command.ts';
import { type Opened, openModel, textOf } from '../runtime/open-model.ts';
import { promptWithPictures } from '../runtime/shown-pictures.ts';
import { fixed } from '../runtime/terminal.ts';

const FLAGS = {
  ...MODEL_FLAGS,
  prompt: { kind: 'text', value: 'TEXT', help: 'the prompt; "-" reads it from stdin' },
  tokens: { kind: 'ids', value: '1,2,3', help: 'the prompt as token ids, instead of --prompt' },
  image: { kind: 'texts', value: 'FILE', help: 'a picture shown before the prompt (can be repeated)' },
  detail: {
    kind: 'text',
    value: 'LEVEL',
    oneOf: PictureDetail.options,
    help: 'how closely pictures are looked at: fast, normal (default) or fine',
  },
  system: { kind: 'text', value: 'TEXT', help: 'a system message before the prompt' },
  raw: { kind: 'yes', help: 'continue the prompt as it is, without the chat template' },
  think: { kind: 'yes', help: 'let the model think first' },
  'no-think': { kind: 'yes', help: 'do not let it think' },
  schema: { kind: 'text', value: 'FILE', help: 'the answer is JSON of this schema' },
  grammar: { kind: 'text', value: 'FILE', help: 'the answer is a text of this GBNF grammar' },
  regex: { kind: 'text', value: 'R', help: 'the answer matches this regular expression' },
  'cache-report': { kind: 'yes', help: 'show how much of the prompt was read, how much was cached, and why' },
  ...THINKING_FLAG,
  ...SAMPLING_FLAGS,
  ...PRECISION_FLAG,
} as const satisfies Flags;
type GenerateValues = Values<typeof FLAGS>;

export const generate = command({
  name: 'generate',
  summary: 'Answer one prompt.',
  usage: '--model PATH --prompt TEXT [--image FILE …] | --tokens 1,2,3',
  flags: FLAGS,
  async run(context, values) {
    if ((values.prompt === undefined) === (values.tokens === undefined)) {
      throw new UsageError('[generate] give either --prompt or --tokens');
    }
    const model = await openModel(context, values);
    try {
      const text = values.tokens ? await textIfAny(model.addon, model.path) : await textOf(model.addon, model.path);
      const prompt = await promptFor(context, model, values, text);
      const grammar = await grammarFor(model, values, text, prompt.inThinking);
      const path = numericPath(values.precision);
      const session = model.native.createSession({
        ...(values.context !== undefined && { contextLength: values.context }),
        ...(path && { path }),
      });
      const onPart = context.json ? () => {} : printer(context);
      const said = await answer(context, {
        model,
        text,
        session,
        ...prompt,
        prompt: prompt.ids,
        values,
        path,
        grammar,
        onPart,
        thinkLimit: thinkLimitOf(values['think-limit'], session),
        onLimit: limitNote(context),
      });
      session.close();
      const timings = timingsOf(said.result);
      if (context.json) {
        const { tokens, finish: finish_reason, thinking, loop } = said;
        const result = {
          text: said.text,
          thinking,
          tokens,
          prompt_tokens: prompt.ids.length,
          finish_reason,
          loop,
          timings,
          ...(values['cache-report'] && { cache: said.result.reuse }),
        };
        context.terminal.out(`${JSON.stringify({ ...result, device: model.native.device.id, path: path ?? null })}\n`);
      } else {
        if (!text) context.terminal.out(said.tokens.join(','));
        context.terminal.out('\n');
        const { reuse } = said.result;
        if (values['cache-report']) context.terminal.note(cacheReport(reuse, prompt.ids, text?.decode ?? null));
        const speed = `${fixed(timings.tokens_per_second)} tokens/s, first after ${fixed(timings.first_token_ms, 0)} ms`;
        context.terminal.note(context.terminal.dim(`${said.tokens.length} tokens, ${said.finish}, ${speed}`));
        if (said.loop) context.terminal.note(JSON.stringify(said.loop));
      }
      return said.finish === 'cancelled' ? 130 : 0;
    } finally {
      model.close();
    }
  },
});

/** The grammar that constrains the answer. */
async function grammarFor(
  { addon, native }: Opened,
  { schema, grammar, regex, 'no-think': noThinking }: GenerateValues,
  text: ModelText | null,
  inThinking: boolean,
) {
  const given = [schema, grammar, regex].filter((one) => one !== undefined);
  if (given.length === 0) return {};
  if (given.length > 1) throw new UsageError('[generate] give one of --schema, --grammar and --regex');
  if (!text) throw new LonghandError('model-broken', '[generate] the model has no tokenizer, which a grammar needs');
  const wanted: GrammarText =
    regex !== undefined
      ? { kind: 'regex', text: regex }
      : schema !== undefined
        ? { kind: 'json-schema', text: await readFile(schema, 'utf8') }
        : { kind: 'gbnf', text: await readFile(grammar ?? '', 'utf8') };
  const compiled = await createGrammars(addon, text, native.vocabularySize).compiled(wanted);
  return { grammar: compiled, ...boundAnswer(text, inThinking, noThinking !== true) };
}

async function promptFor(context: Context, model: Opened, values: GenerateValues, text: ModelText | null) {
  if (values.image && (values.tokens || values.raw)) {
    throw new UsageError(
      '[generate] pictures are shown by the chat template: --image goes with --prompt, without --raw',
    );
  }
  if (values.tokens) return { ids: values.tokens, inThinking: false };
  if (!text) throw new LonghandError('model-broken', '[generate] the model has no tokenizer; --tokens needs none');
  const written = values.prompt === '-' ? await stdin() : (values.prompt ?? '');
  if (values.raw) {
    const ids = [...text.before, ...text.tokenizer.encode(text.tokenizer.split(written))];
    if (ids.length === 0) throw new UsageError('[generate] an empty --raw prompt has no token to continue from');
    return { ids, inThinking: text.thinking !== null && opensThinking(written, text.thinking) };
  }
  const { template } = text;
  if (template === null) {
    throw new LonghandError('template-failed', '[generate] the model has no chat template; --raw needs none');
  }
  const renderer = createTemplateRenderer({ worker: context.places.worker });
  try {
    const thinking = values.think ? true : values['no-think'] ? false : null;
    if (values.image) {
      const detail = PictureDetail.parse(values.detail ?? 'normal');
      const shown = { files: values.image, detail, prompt: written, system: values.system, thinking };
      return await promptWithPictures(context, model, renderer, shown);
    }
    const system = values.system === undefined ? [] : [{ role: 'system' as const, content: values.system }];
    const messages = [...system, { role: 'user' as const, content: written }];
    return await promptOf({ ...text, template }, renderer, { messages, thinking });
  } finally {
    await renderer.close();
  }
}

async function stdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text.replace(/\n$/, '');
}

/** The note beside thinking about its limit. */
export const limitNote =
  ({ terminal }: Context) =>
  (limit: number) =>
    terminal.note(terminal.dim(`thinking, up to ${limit.toLocaleString('en')} tokens`));

/** The answer on stdout; thinking dimmed before it, with an empty line between. */
export function printer({ terminal }: Context): (part: Part) => void {
  let before: Part['kind'] | null = null;
  return ({ kind, text }) => {
    if (before === 'thinking' && kind === 'answer') terminal.out('\n\n');
    before = kind;
    terminal.out(kind === 'thinking' ? terminal.dim(text) : text);
  };
}
