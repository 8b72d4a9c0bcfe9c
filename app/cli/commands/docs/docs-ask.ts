import { citedIn } from '../../../documents/answer/citations.ts';
import {
  type Client,
  type Collection,
  closestIn,
  type Grounding,
  LonghandError,
  type Message,
  type Quoted,
  quotedIn,
  quoteStandsAlone,
  type TurnEvent,
} from '../../../protocol/index.ts';
import { whereOf } from '../../../text/location.ts';
import { type Context, UsageError } from '../../runtime/command.ts';
import { chosen, type DocsAction, type DocsValues, modelNamed } from './docs-arguments.ts';

/** Answers a question from documents. Greedy unless a temperature is given: the same question has the same
 *  answer. A looping answer ends at once because there is nobody to decide. */
export const ask: DocsAction = async ({ terminal, json, signal }, client, values, words) => {
  const collections = await chosen(client, values.collection);
  if (values['no-model']) {
    needNoModel(values);
    return quoteAlone({ terminal, json }, client, collections, words.join(' '));
  }
  const modelId = values.model === undefined ? null : await modelNamed(client, values.model);
  const sampling = { temperature: values.temperature ?? 0, ...(values.seed !== undefined && { seed: values.seed }) };
  const { id: chatId } = await client.call('chats.create', { modelId });
  try {
    await client.call('chats.update', { chatId, sampling, collectionIds: collections.map(({ id }) => id) });
    const print = json ? () => {} : printer(terminal.out);
    const message = await answerTo(client, chatId, words.join(' '), signal, print);
    const { text, grounding, state, loops } = message;
    if (state.status === 'failed') throw new LonghandError(state.failure.code, state.failure.message);
    const found = grounding?.found ?? false;
    const quoted = quotedIn(grounding);
    const quote = quoted && { ...grounding?.quote, text: quoted.text, where: whereQuoted(quoted) };
    const finish_reason = state.status === 'done' ? state.reason : null;
    const loop = loops.at(-1) ?? null;
    if (json) terminal.out(`${JSON.stringify({ answer: text, finish_reason, loop, found, ...grounding, quote })}\n`);
    else report(terminal, message);
    return found ? 0 : 1;
  } finally {
    await client.call('chats.delete', { chatId });
  }
};

function needNoModel(values: DocsValues) {
  const given = (['model', 'temperature', 'seed'] as const).find((name) => values[name] !== undefined);
  if (given) throw new UsageError(`[docs] --no-model cannot be combined with --${given}`);
}

/** The best quote and its passages, deterministically. */
async function quoteAlone(
  { terminal, json }: Pick<Context, 'terminal' | 'json'>,
  client: Client,
  collections: readonly Collection[],
  question: string,
): Promise<number> {
  const grounding = await client.call('documents.ask', {
    question,
    collectionIds: collections.map(({ id }) => id),
  });
  const quoted = quotedIn(grounding);
  const quote = quoted && { ...grounding.quote, text: quoted.text, where: whereQuoted(quoted) };
  if (json) terminal.out(`${JSON.stringify({ ...grounding, quote })}\n`);
  else {
    tellQuote(terminal, grounding);
    tellSources(terminal, grounding.found ? 'Sources:' : 'Closest passages:', grounding.sources);
  }
  return grounding.found ? 0 : 1;
}

/** Streams the answer. One that merely denies what the quote below says is dropped, so its first words are held back
 *  until it is clear that it is not a denial. */
function printer(out: (text: string) => void): (event: TurnEvent) => void {
  let grounding: Grounding | null = null;
  let held = '';
  let open = false;
  return (event) => {
    if (event.type === 'grounding') grounding = event.grounding;
    if (event.type === 'delta' && event.kind === 'answer') held += event.text;
    const over = event.type === 'finished' || event.type === 'failed';
    open ||=
      quotedIn(grounding) === null ||
      ((over || held.length > HELD) && quoteStandsAlone({ text: held, grounding, usage: null }) === null);
    if (!open) return;
    out(held);
    held = '';
  };
}

const HELD = 160;

function report(terminal: Context['terminal'], { text, grounding, state }: Message) {
  terminal.out('\n');
  if (state.status === 'done' && state.reason === 'loop')
    terminal.note(terminal.dim('stopped: the answer was repeating itself'));
  if (!grounding) return;
  tellQuote(terminal, grounding);
  const cited = citedIn(text);
  const sources = grounding.sources.filter(({ number }) => !grounding.found || cited.has(number));
  tellSources(terminal, grounding.found ? 'Cited:' : 'Closest passages:', sources);
  const weak = grounding.support.filter(({ level }) => level !== 'supported').length;
  if (weak > 0) terminal.note(terminal.dim(`${weak} of ${grounding.support.length} sentences are not fully supported`));
}

function tellQuote(terminal: Context['terminal'], grounding: Grounding) {
  const quoted = quotedIn(grounding) ?? closestIn(grounding);
  if (!quoted) return;
  const also = grounding.quote?.alsoIn?.join(', ');
  const where = also ? `${whereQuoted(quoted)}; also in: ${also}` : whereQuoted(quoted);
  terminal.out(`\n${grounding.found ? '' : 'Closest: '}“${quoted.text}”\n  ${where}\n`);
}

const whereQuoted = ({ source, location }: Quoted): string => whereOf({ name: source.name, location });

function tellSources(terminal: Context['terminal'], title: string, sources: Grounding['sources']) {
  if (sources.length > 0) terminal.note(terminal.dim(title));
  for (const source of sources) terminal.note(terminal.dim(`  [${source.number}] ${whereOf(source)}`));
}

async function answerTo(
  client: Client,
  chatId: Message['chatId'],
  text: string,
  signal: AbortSignal,
  onEvent: (event: TurnEvent) => void,
): Promise<Message> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const stop = client.on('turn', ({ chatId: of, event }) => {
    if (of !== chatId) return;
    onEvent(event);
    if (event.type === 'finished' || event.type === 'failed') end();
  });
  const { messageId, turnId } = await client.call('turns.send', { chatId, text, unattended: true });
  const cancel = () => void (turnId && client.call('turns.cancel', { turnId }));
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  try {
    await ended;
    const { messages } = await client.call('chats.get', { chatId });
    const message = messages.find(({ id }) => id === messageId);
    if (signal.aborted) throw new LonghandError('cancelled', '[docs] stopped');
    if (!message) throw new LonghandError('internal', '[docs] the answer has been removed');
    return message;
  } finally {
    stop();
    signal.removeEventListener('abort', cancel);
  }
}
