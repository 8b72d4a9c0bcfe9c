// What is said when a remote engine refuses or cannot be reached.
import { expect, test } from 'vitest';
import { engineError, statusError, transportError } from '../../../../app/engine/remote/failures.ts';

const asked = { host: 'lab:8000', key: 'sk-0123456789abcdef' };

test.each([
  [401, 'no', null, 'engine-key'],
  [403, 'no', null, 'engine-key'],
  [429, 'slow down', null, 'engine-busy'],
  [503, 'full', 7, 'engine-busy'],
  [503, 'broken', null, 'engine-error'],
  [400, 'This exceeds the maximum context length', null, 'engine-context'],
  [413, 'prompt is too long', null, 'engine-context'],
  [500, 'This exceeds the maximum context length', null, 'engine-error'],
  [404, 'the model `x` does not exist', null, 'engine-model'],
  [500, 'model not loaded', null, 'engine-error'],
  [404, 'Not Found', null, 'engine-foreign'],
  [405, 'Method Not Allowed', null, 'engine-foreign'],
  [400, 'bad', null, 'engine-refused'],
  [499, 'bad', null, 'engine-refused'],
  [502, 'bad', null, 'engine-error'],
])('status %i, "%s", again after %s: %s', (status, said, seconds, reason) => {
  const error = statusError(asked, status, said, seconds);
  expect(error.details).toMatchObject({ reason, host: 'lab:8000', said });
  expect(error.details?.seconds).toBe(seconds ?? undefined);
  const isPlain = reason === 'engine-refused' || reason === 'engine-error';
  expect(error.details?.status).toBe(isPlain ? status : undefined);
  expect(error.message).toMatch(new RegExp(`^\\[remote\\] lab:8000: status ${status}.*: ${said}$`));
  const codes: Record<string, string> = { 'engine-model': 'model-missing', 'engine-context': 'context-full' };
  expect(error.code).toBe(codes[reason] ?? 'remote-failed');
});

const failed = (code: string, message = 'it broke') => {
  const cause = Object.assign(new Error(message), { code });
  return new TypeError('fetch failed', { cause });
};

test.each([
  ['ECONNREFUSED', false, 'engine-unreachable'],
  ['ENOTFOUND', true, 'engine-unreachable'],
  ['UND_ERR_HEADERS_TIMEOUT', false, 'engine-timeout'],
  ['ETIMEDOUT', true, 'engine-timeout'],
  ['CERT_HAS_EXPIRED', false, 'engine-tls'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', true, 'engine-tls'],
  ['ECONNRESET', true, 'engine-hung-up'],
  ['ECONNRESET', false, 'engine-unreachable'],
  ['HPE_INVALID_CONSTANT', false, 'engine-foreign'],
  ['HPE_INVALID_CONSTANT', true, 'engine-hung-up'],
  ['UND_ERR_SOCKET', false, 'engine-unreachable'],
])('%s, after the answer began: %s: %s', (code, began, reason) => {
  const error = transportError(asked, failed(code), began);
  expect(error.details).toMatchObject({ reason, host: 'lab:8000' });
  expect(error.details?.detail).toBe(reason === 'engine-tls' ? code : undefined);
  expect(error.message).toBe('[remote] lab:8000: it broke');
  expect(error.cause).toBeInstanceOf(TypeError);
});

test('of several addresses that fail, the first says why; five causes deep is looked, and what is no error is said as it is', () => {
  const both = new AggregateError([
    Object.assign(new Error('first'), { code: 'EHOSTUNREACH' }),
    Object.assign(new Error('second'), { code: 'CERT_X' }),
  ]);
  const error = transportError(asked, new TypeError('fetch failed', { cause: both }), true);
  expect(error.details).toMatchObject({ reason: 'engine-unreachable' });
  expect(error.message).toContain('first');
  const nested = (depth: number): Error =>
    depth === 0 ? failed('ECONNREFUSED') : new Error(`at ${depth}`, { cause: nested(depth - 1) });
  expect(transportError(asked, nested(4), true).message).toContain('it broke');
  expect(transportError(asked, nested(5), true).message).toContain('fetch failed');
  expect(transportError(asked, 'gone', false).message).toBe('[remote] lab:8000: gone');
  expect(transportError(asked, new AggregateError([], 'none at all'), false).message).toContain('none at all');
});

test('what an engine says is one line of 300 characters at most, without the key or its ends', () => {
  const said = (text: string, key: string | null = asked.key) =>
    engineError('engine-refused', { host: 'lab', key }, 'status 400', { said: text }).details?.said;
  expect(said('Bad\n\tkey  sk-0123456789abcdef, or sk-01234…, or …89abcdef')).toBe('Bad key …, or ……, or ……');
  expect(said('x'.repeat(300))).toBe('x'.repeat(300));
  expect(said('x'.repeat(301))).toBe(`${'x'.repeat(300)}…`);
  // A key so short would blank out ordinary words.
  expect(said('an abc of keys', 'abc')).toBe('an abc of keys');
  expect(said('an abcd of keys', 'abcd')).toBe('an … of keys');
  expect(said('  ')).toBeUndefined();
  expect(engineError('engine-refused', asked, 'status 400').message).toBe('[remote] lab:8000: status 400');
});
