// What is kept of whom Longhand spoke to.
import { expect, test } from 'vitest';
import type { NetworkLogEntry } from '../../../../app/protocol/index.ts';
import { addNetworkLogEntry, listNetworkLog } from '../../../../app/store/models/network-log.ts';
import { inMemory } from '../support.ts';

const day = 86_400_000;
const NOON = Date.UTC(2031, 2, 14, 12);
const contact = (at: number, more: Partial<NetworkLogEntry> = {}) =>
  ({
    at,
    allowed: true,
    host: 'hub',
    reason: 'search',
    about: 'a',
    requestCount: 1,
    bytes: 10,
    ...more,
  }) as NetworkLogEntry;

test('of a day and a reason there is one row, with all its requests and bytes; refused ones are told apart; the newest come first', () => {
  const db = inMemory();
  addNetworkLogEntry(db, contact(NOON));
  addNetworkLogEntry(db, contact(NOON + 1, { requestCount: 2, bytes: 5 }));
  addNetworkLogEntry(db, contact(NOON + 2, { allowed: false, bytes: 0 }));
  addNetworkLogEntry(db, contact(NOON + day));
  expect(listNetworkLog(db, NOON + day)).toEqual([
    contact(NOON + day),
    contact(NOON + 2, { allowed: false, bytes: 0 }),
    contact(NOON + 1, { requestCount: 3, bytes: 15 }),
  ]);
});

test('a contact is told for ninety days and then forgotten', () => {
  const db = inMemory();
  addNetworkLogEntry(db, contact(NOON));
  expect(listNetworkLog(db, NOON + 90 * day)).toHaveLength(1);
  expect(listNetworkLog(db, NOON + 90 * day + 1)).toEqual([]);
  expect(listNetworkLog(db, NOON)).toEqual([]);
});
