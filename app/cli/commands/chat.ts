import { createInterface } from 'node:readline/promises';
import type { PromptMessage } from '../../engine/ipc-protocol.ts';
import type { Answer } from '../../engine/process/generation/single-answer.ts';
import { promptIds } from '../../engine/process/prompt/prompt-tokens.ts';
import { createTemplateRenderer } from '../../text/jinja/template-renderer.ts';
import { answer, SAMPLING_FLAGS, THINKING_FLAG, thinkLimitOf, timingsOf } from '../runtime/answer.ts';
import { type Context, command, type Flags, MODEL_FLAGS, numericPath, PRECISION_FLAG } from '../runtime/command.ts';
import { modelNameOf, openModel, textOf } from '../runtime/open-model.ts';
import { fixed } from '../runtime/terminal.ts';
import { limitNote, printer } from './generate.ts';

const FLAGS = {
  ...MODEL_FLAGS,
  system: { kind: 'text', value: 'TEXT', help: 'a system message' },
  think: { kind: 'yes', help: 'let the model think before it answers' },
  ...THINKING_FLAG,
  ...SAMPLING_FLAGS,
  'loop-guard': { ...SAMPLING_FLAGS['loop-guard'], help: 'stop an answer that repeats itself (default: balanced)' },
  ...PRECISION_FLAG,
} as const satisfies Flags;

const HELP = '/new starts over · /think toggles thinking · /quit quits · Ctrl-C stops an answer';

export const chat = command({
  name: 'chat',
  summary: 'Chat with a model in the terminal.',
  usage: '[--model PATH]',
  flags: FLAGS,
  async run(context, values) {
    const { terminal } = context;
    const model = await openModel(context, values);
    const text = await textOf(model.addon, model.path);
    const renderer = createTemplateRenderer({ worker: context.places.worker });
    const path = numericPath(values.precision);
    const session = model.native.createSession({
      ...(values.context !== undefined && { contextLength: values.context }),
      ...(path && { path }),
    });
    const lines = questions(context, `${modelNameOf(context, values.model)} on ${model.native.device.name}. ${HELP}`);
    const first: PromptMessage[] = values.system === undefined ? [] : [plain('system', values.system)];
    let messages = [...first];
    let thinking = values.think ?? false;
    try {
      for (let line = await lines.next(); line !== null; line = await lines.next()) {
        const said = line.trim();
        if (said === '/quit' || said === '/exit') break;
        if (said === '/new') messages = [...first];
        else if (said === '/think') {
          thinking = !thinking;
          terminal.note(terminal.dim(`thinking is ${thinking ? 'on' : 'off'}`));
        } else if (said === '/help') terminal.note(terminal.dim(HELP));
        else if (said !== '') {
          const asked = [...messages, plain('user', line)];
          const prompt = await promptIds(text, renderer, { messages: asked, thinking, continuation: null });
          const signal = lines.answering();
          const onPart = context.json ? () => {} : printer(context);
          const options = {
            model,
            text,
            session,
            prompt: prompt.ids,
            inThinking: prompt.inThinking,
            values: { ...values, 'loop-guard': values['loop-guard'] ?? 'balanced' },
            path,
            onPart,
            thinkLimit: thinkLimitOf(values['think-limit'], session),
            onLimit: limitNote(context),
            mayThinkOn: lines.mayThinkOn,
          };
          const got = await answer({ ...context, signal }, options);
          lines.answered();
          report(context, got, prompt.ids.length);
          // If thinking was interrupted, only its text goes into the next prompt.
          const ids = got.text === '' ? null : got.tokens;
          messages = [...asked, { role: 'assistant', text: got.text, thinking: got.thinking, ids }];
        }
      }
      return 0;
    } finally {
      lines.close();
      session.close();
      await renderer.close();
      model.close();
    }
  },
});

const plain = (role: PromptMessage['role'], text: string): PromptMessage => ({ role, text, thinking: '', ids: null });

function report(
  { terminal, json }: Context,
  { text, thinking, tokens, finish, loop, result }: Answer,
  promptTokens: number,
) {
  const timings = timingsOf(result);
  if (json) {
    const line = { text, thinking, tokens, prompt_tokens: promptTokens, finish_reason: finish, loop, timings };
    terminal.out(`${JSON.stringify(line)}\n`);
    return;
  }
  const why = finish === 'stop' ? '' : `${finish}, `;
  terminal.out('\n');
  terminal.note(
    terminal.dim(
      `${why}${fixed(timings.tokens_per_second, 0)} tokens/s, first after ${fixed(timings.first_token_ms, 0)} ms, ` +
        `${promptTokens - timings.cached_tokens} tokens read, ${timings.cached_tokens} cached`,
    ),
  );
}

/** Lines of the user. Ctrl-C stops an answer that is being written, and ends the conversation otherwise. */
function questions({ terminal, signal: ended }: Context, greeting: string) {
  const interactive = process.stdin.isTTY === true;
  const reader = createInterface({
    input: process.stdin,
    ...(interactive && { output: process.stderr }),
    terminal: interactive,
  });
  const waiting = reader[Symbol.asyncIterator]();
  let running: AbortController | null = null;
  const interrupt = () => {
    if (running) running.abort();
    else reader.close();
  };
  reader.on('SIGINT', interrupt);
  ended.addEventListener('abort', interrupt);
  if (interactive) terminal.note(terminal.dim(greeting));
  return {
    async next(): Promise<string | null> {
      if (interactive) {
        reader.setPrompt(terminal.bold('\n› '));
        reader.prompt();
      }
      const { value, done } = await waiting.next();
      return done ? null : value;
    },
    /** Asks the user, in an interactive terminal only. */
    async mayThinkOn(thought: number): Promise<boolean> {
      if (!interactive) return false;
      terminal.note(`\nIt has been thinking for ${thought.toLocaleString('en')} tokens. Think as long again? [y/N]`);
      const { value, done } = await waiting.next();
      return !done && /^y/i.test(value.trim());
    },
    answering(): AbortSignal {
      running = new AbortController();
      return running.signal;
    },
    answered() {
      running = null;
    },
    close() {
      ended.removeEventListener('abort', interrupt);
      reader.close();
    },
  };
}
