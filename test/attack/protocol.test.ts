import { expect, test } from 'vitest';
import { type CallName, calls, dispatch, ErrorCode } from '../../app/protocol/index.ts';
import { newFolder, startCore } from '../support/core/core.ts';
import { CALLS, type Field, SETTINGS } from './registry.ts';
import { tallyOf } from './tally.ts';
import { hostileValues } from './values.ts';

const tally = tallyOf('protocol');

/** Maximum response time for a hostile value. */
const answerMs = 10_000;

const valid: Record<Field, unknown> = {
  id: 'unknown',
  text: 'text',
  flag: true,
  number: 1,
  choice: 'url',
  path: '/nowhere/a.gguf',
  address: 'nowhere',
  list: [],
  object: {},
};

const within = <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${answerMs} ms`)), answerMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

const shown = (value: unknown) => (JSON.stringify(value) ?? String(value)).slice(0, 80);

test('every field of every call takes hostile values: each is answered, with a value that fits or a code', async () => {
  const { host, client } = await startCore();
  // No network requests, whatever a URL says.
  await client.call('settings.set', { network: 'off' });
  const values = hostileValues(newFolder());
  const { id: chatId } = await client.call('chats.create', {});
  const { id: collectionId } = await client.call('documents.createCollection', { name: 'mine' });
  const mine: Readonly<Record<string, string>> = { chatId, collectionId };
  let id = 0;
  const ask = async (name: CallName, input: unknown) => {
    const reply = await within(dispatch(host.handlers, { id: ++id, call: name, input }));
    if (reply === null || !('id' in reply)) throw new Error('no reply');
    if ('failure' in reply) {
      expect(ErrorCode.options).toContain(reply.failure.code);
      expect(reply.failure.code, reply.failure.message).not.toBe('internal');
    } else expect(calls[name].response.safeParse(reply.value).error?.message).toBeUndefined();
  };
  for (const name of Object.keys(calls) as CallName[]) {
    const fields: Readonly<Record<string, Field>> = name === 'settings.set' ? SETTINGS : CALLS[name];
    for (const junk of ['text', 7, [], null, { __proto__: { chatId: 'x' } }]) {
      await tally.refused(`${name} ${shown(junk)}`, () => ask(name, junk));
    }
    const sound = Object.fromEntries(
      Object.entries(fields).map(([field, kind]) => [
        field,
        (name.startsWith('turns.') ? null : mine[field]) ?? valid[kind],
      ]),
    );
    for (const [field, kind] of Object.entries(fields)) {
      for (const value of values[kind]) {
        const input = name === 'settings.set' ? { [field]: value } : { ...sound, [field]: value };
        await tally.refused(`${name} ${field}: ${shown(value)}`, () => ask(name, input));
      }
    }
  }
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(await client.call('app.info')).toMatchObject({ shell: 'browser' });
  tally.settle();
}, 120_000);
