// What somebody allowed: tools of other programs, sites, keys of the server.
import { expect, test } from 'vitest';
import type { ChatId } from '../../../app/protocol/index.ts';
import { createChat } from '../../../app/store/chats/chats.ts';
import {
  addMcpServer,
  giveConsent,
  hasConsent,
  keepMcpOffer,
  listMcpServers,
  removeMcpServer,
  type ToolConsent,
  takeConsent,
} from '../../../app/store/mcp-servers.ts';
import { keepMeasurement, readMeasurement } from '../../../app/store/measurements.ts';
import { addPageHost, isPageHost, listPageHosts, removePageHost } from '../../../app/store/page-hosts.ts';
import {
  addServerKey,
  knownServerKeys,
  listServerKeys,
  noteServerKeyUse,
  removeServerKey,
} from '../../../app/store/server-keys.ts';
import { inMemory } from './support.ts';

function served() {
  const db = inMemory();
  const [chat, other] = [createChat(db, null, 1).id, createChat(db, null, 2).id];
  const server = { id: 's' as never, name: 'Files', config: '{}', sealed: 1, about: 'a', tools: '[]', prompts: '[1]' };
  addMcpServer(db, server, 2);
  addMcpServer(db, { ...server, id: 'earlier' as never, name: 'Older' }, 1);
  return { db, chat, other, server };
}

test('a tool may run in the chat for which it was allowed, or in all; as it was then, and of that server', () => {
  const { db, chat, other } = served();
  const asked = (more: Partial<ToolConsent> = {}): ToolConsent => ({
    serverId: 's' as never,
    tool: 'read',
    chatId: chat,
    digest: 'd',
    ...more,
  });
  giveConsent(db, asked());
  const may = (more: Partial<ToolConsent> = {}) => hasConsent(db, asked(more));
  expect([
    may(),
    may({ chatId: other }),
    may({ tool: 'write' }),
    may({ digest: 'changed' }),
    may({ serverId: 'earlier' as never }),
  ]).toEqual([true, false, false, false, false]);
  giveConsent(db, asked({ chatId: null, tool: 'write' }));
  expect([may({ tool: 'write' }), may({ tool: 'write', chatId: other })]).toEqual([true, true]);
  takeConsent(db, 's' as never, 'read');
  expect([may(), may({ tool: 'write' })]).toEqual([false, true]);
});

test('servers are listed as they were added, with what they offer', () => {
  const { db, server } = served();
  keepMcpOffer(db, server.id, '[2]', '[3]');
  expect(listMcpServers(db)).toEqual([
    { ...server, id: 'earlier', name: 'Older' },
    { ...server, tools: '[2]', prompts: '[3]' },
  ]);
  removeMcpServer(db, 'earlier' as never);
  expect(listMcpServers(db).map(({ id }) => id)).toEqual(['s']);
});

test('a site may be read in the chat for which it was allowed, or in all', () => {
  const { db, chat, other } = served();
  addPageHost(db, 'one.example', chat);
  addPageHost(db, 'b.example', null);
  addPageHost(db, 'a.example', null);
  const may = (host: string, where: ChatId) => isPageHost(db, host, where);
  expect([
    may('one.example', chat),
    may('one.example', other),
    may('a.example', other),
    may('c.example', chat),
  ]).toEqual([true, false, true, false]);
  expect(listPageHosts(db)).toEqual(['a.example', 'b.example']);
  removePageHost(db, 'one.example');
  expect([may('one.example', chat), may('a.example', chat)]).toEqual([false, true]);
});

test('a use of a key is recorded once in a while', () => {
  const { db } = served();
  const key = (id: string, createdAt: number) => ({ id, name: `${id}'s`, hint: 'lh-…', createdAt, usedAt: null });
  addServerKey(db, key('a', 1), new Uint8Array(32).fill(1));
  addServerKey(db, key('b', 2), new Uint8Array(32).fill(2));
  expect(listServerKeys(db)).toEqual([key('b', 2), key('a', 1)]);
  expect([0, 1000, 1001, 1500].map((at) => noteServerKeyUse(db, 'a', at, 1000))).toEqual([true, false, true, false]);
  expect(listServerKeys(db).map(({ usedAt }) => usedAt)).toEqual([null, 1001]);
  expect(knownServerKeys(db).map(({ name, digest }) => [name, digest[31]])).toEqual([
    ["a's", 1],
    ["b's", 2],
  ]);
  removeServerKey(db, 'a');
  expect(knownServerKeys(db).map(({ id }) => id)).toEqual(['b']);
});

test('what was measured of this machine is kept by its name, the last counts', () => {
  const { db } = served();
  expect(readMeasurement(db, 'speed')).toBeNull();
  keepMeasurement(db, 'speed', 7, 1);
  keepMeasurement(db, 'speed', 9, 2);
  keepMeasurement(db, 'other', 3, 2);
  expect(readMeasurement(db, 'speed')).toBe(9);
});
