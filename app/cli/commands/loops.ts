import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Finding } from '../../text/loop/finding.ts';
import type { Place, Sensitivity } from '../../text/loop/levels.ts';
import { LoopGuard } from '../../text/loop/loop-detector.ts';
import type { ModelText } from '../../text/model-text.ts';
import { createDetokenizer } from '../../text/tokenizer/detokenizer.ts';
import { type Command, type Context, command, UsageError } from '../runtime/command.ts';
import { addonOf, modelPath, textOf } from '../runtime/open-model.ts';

//  Feeds texts through the loop detector as if a model were writing them, so that anybody can evaluate it on their
//  own. After each card the text goes on as if "keep going" had been chosen.

type Token = { id: number; text: string };
type Text = { id: string | null; tokens: readonly Token[]; place: Place };

const Line = z
  .object({
    id: z.union([z.string(), z.number().transform(String)]).optional(),
    text: z.string().optional(),
    tokens: z.array(z.string()).optional(),
    thinking: z.boolean().optional(),
  })
  .refine(({ text, tokens }) => (text === undefined) !== (tokens === undefined), 'either "text" or "tokens" is needed');

export const loops: Command = command({
  name: 'loops',
  summary: 'Show what the loop detector finds in a text, one line per finding.',
  usage: '[FILE|-] [--model PATH] [--thinking] [--jsonl] [--loop-guard LEVEL]',
  words: [0, 1],
  flags: {
    model: { kind: 'text', value: 'PATH', help: 'model whose tokenizer is used (default: "assistant")' },
    thinking: { kind: 'yes', help: 'treat the text as thinking instead of an answer' },
    jsonl: {
      kind: 'yes',
      help: 'read one JSON object per line: "text", or "tokens" (a list of strings); optionally "id" and "thinking"',
    },
    'loop-guard': {
      kind: 'text',
      value: 'LEVEL',
      oneOf: ['relaxed', 'balanced', 'strict'],
      help: 'sensitivity (default: balanced)',
    },
  },
  async run(context, values, [file = '-']) {
    const input = file === '-' ? await stdin() : await readFile(resolve(context.places.here, file), 'utf8');
    const model = await textOf(addonOf(context), modelPath(context, values.model));
    const sensitivity = (values['loop-guard'] ?? 'balanced') as Sensitivity;
    const usual: Place = values.thinking ? 'thinking' : 'answer';
    const texts = values.jsonl
      ? linesOf(input, model, usual)
      : [{ id: null, tokens: tokensOf(input, model), place: usual }];
    for (const text of texts) {
      if (context.signal.aborted) return 130;
      watch(context, text, sensitivity);
    }
    return 0;
  },
});

function watch(context: Context, { id, tokens, place }: Text, sensitivity: Sensitivity): void {
  const guard = new LoopGuard({ sensitivity, inAnswers: true });
  let char = 0;
  for (const [at, token] of tokens.entries()) {
    char += token.text.length;
    const found = guard.push(token.id, token.text, place);
    if (!found) continue;
    say(context, id, found, at + 1, char);
    if (found.degree === 'card') guard.act(found.repeats);
  }
}

function say({ terminal, json }: Context, id: string | null, found: Finding, token: number, char: number): void {
  const { kind, degree, repeats, periodTokens, startToken, where, text } = found;
  if (json) {
    const line = { id, kind, degree, where, repeats, periodTokens, token, char, startToken, quote: text };
    terminal.out(`${JSON.stringify(line)}\n`);
    return;
  }
  const name = id === null ? '' : `${id}: `;
  const quote = JSON.stringify(text.length > 160 ? `${text.slice(0, 160)}…` : text);
  const counted =
    kind === 'entries' ? `${repeats} entries already in the list` : `${repeats} copies of ${periodTokens} tokens`;
  terminal.out(`${name}${degree}, ${kind}, ${counted}, at token ${token}, character ${char}: ${quote}\n`);
}

function* linesOf(input: string, model: ModelText, usual: Place): Generator<Text> {
  const ids = new Map<string, number>();
  const idOf = (text: string) => {
    const known = ids.get(text) ?? ids.size;
    ids.set(text, known);
    return known;
  };
  for (const [at, row] of input.split('\n').entries()) {
    if (row.trim() === '') continue;
    const { id = String(at + 1), text, tokens, thinking } = lineOf(row, at + 1);
    yield {
      id,
      tokens: tokens ? tokens.map((piece) => ({ id: idOf(piece), text: piece })) : tokensOf(text ?? '', model),
      place: thinking === undefined ? usual : thinking ? 'thinking' : 'answer',
    };
  }
}

function lineOf(row: string, number: number): z.infer<typeof Line> {
  let value: unknown;
  try {
    value = JSON.parse(row);
  } catch {
    throw new UsageError(`[loops] line ${number} is not JSON: ${row.slice(0, 60)}`);
  }
  const parsed = Line.safeParse(value);
  if (!parsed.success)
    throw new UsageError(`[loops] line ${number}: ${parsed.error.issues[0]?.message ?? 'not a text'}`);
  return parsed.data;
}

/** As a model writes it: each token with the characters that it completes. */
function tokensOf(text: string, { tokenizer }: ModelText): Token[] {
  const detokenizer = createDetokenizer(tokenizer, { continues: true });
  return tokenizer.encodeText(text).map((id) => ({ id, text: detokenizer.push(id) }));
}

async function stdin(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  return text;
}
