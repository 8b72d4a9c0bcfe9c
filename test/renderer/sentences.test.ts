import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DownloadError, type DownloadErrorCode } from '../../app/models/network/download-error.ts';
import { asFailure } from '../../app/models/network/error-mapping.ts';
import { ErrorCode, type Failure, FailureReason, failureOf, LonghandError } from '../../app/protocol/index.ts';
import { sentenceOf, sentenceOfCode, shortly, wayOf, whatOf } from '../../renderer/sentences.ts';
import { textReads } from '../support/text-reads.ts';

const root = join(import.meta.dirname, '..', '..');
const filesIn = (folder: string, kind: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => kind.test(name))
    .map((name) => ({ name: join(folder, name), text: readFileSync(join(root, folder, name), 'utf8') }));

/** Begins with a capital, ends as a sentence, and holds nothing that the core says to itself. */
function expectSentence(text: string): void {
  expect(text).toMatch(/^[A-Z“].*[.)]$/);
  expect(text).not.toMatch(/\[[a-z.]+\]|\{\{|trouble\.|errors\.|undefined|EACCES|ENOSPC/);
}

const raw = '[settings.set] "hubEndpoint": Invalid URL';

describe('what a person reads of a failure', () => {
  test('every code has a sentence, alone and of a download', () => {
    for (const code of ErrorCode.options) {
      expectSentence(sentenceOf({ code, message: raw, hint: 'npm run build:native compiles it' }));
      expect(shortly({ code, message: raw, hint: raw })).toMatch(/^[A-Z][^[{]*[^.]$/);
      expect(whatOf({ code })).not.toBe(wayOf({ code, message: raw, hint: raw }));
      expectSentence(sentenceOfCode(code));
    }
  });

  test('every reason has a sentence, which counts more than the code', () => {
    for (const reason of FailureReason.options) {
      const told = sentenceOf({ code: 'internal', message: raw, details: { reason } });
      expectSentence(told);
      expect(told).not.toBe(sentenceOf({ code: 'internal', message: raw }));
      expectSentence(sentenceOfCode(reason));
    }
  });

  test('what a source or a disk did comes with its own sentence', () => {
    const codes: DownloadErrorCode[] = [
      'not-found',
      'gated',
      'rate-limited',
      'server',
      'network',
      'off',
      'wrong-content',
    ];
    for (const code of [...codes, 'not-a-model', 'remote-changed', 'hash-mismatch', 'disk', 'bad-name'] as const) {
      const failure = failureOf(asFailure(new DownloadError(code, '[download] 10.0.0.1 answered 500')));
      expect(sentenceOf(failure)).toBe(sentenceOfCode(code));
    }
  });

  test('what was thrown by anybody else is a sentence too', () => {
    const system = (code: string) => Object.assign(new Error(`${code}: no, open '/x'`), { code });
    const thrown = [
      new Error('x is not a function'),
      'text',
      new LonghandError('conflict', raw),
      system('EACCES'),
      system('EBUSY'),
    ];
    for (const error of thrown) expectSentence(sentenceOf(failureOf(error)));
    expect(sentenceOf(failureOf(system('EACCES')))).not.toBe(sentenceOf(failureOf(system('ENOSPC'))));
  });

  test('a reason that a newer core says falls back to the code', () => {
    const failure: Failure = { code: 'network', message: raw, details: { reason: 'solar-flare' } };
    expect(sentenceOf(failure)).toBe(sentenceOf({ code: 'network', message: raw }));
  });
});

describe('in the source', () => {
  test('every reason that the core gives is known', () => {
    const given = filesIn('app', /\.ts$/).flatMap(({ name, text }) =>
      [...text.matchAll(/details: \{ reason: '([\w-]+)'/g)].map((match) => `${name}: ${match[1]}`),
    );
    const unknown = given.filter((line) => !FailureReason.options.includes(line.split(': ')[1] as FailureReason));
    expect(given.length).toBeGreaterThan(5);
    expect(unknown).toEqual([]);
  });

  test('no page makes words of a code by itself', () => {
    const own = filesIn('renderer', /\.tsx?$/)
      .filter(({ name, text }) => name !== 'renderer/sentences.ts' && text.includes('`errors.$'))
      .map(({ name }) => name);
    expect(own).toEqual([]);
  });

  test('no page shows what the core says to itself or to a terminal, but under Details and in the report', () => {
    const read = textReads(root, 'renderer', ['message', 'hint'], ['Details']);
    // `dataset.message` is the id of a message.
    expect(read.filter((line) => !line.endsWith('.dataset.message'))).toEqual([
      // Thrown again, as it came.
      'renderer/bridge.ts: failure.message',
      'renderer/chat/overflow/search-instead.ts: { code, message, hint }',
      'renderer/chat/overflow/search-instead.ts: { code, message, hint }',
      // The report is for whoever repairs it.
      'renderer/chat/transcript/failures/error-report.tsx: failure.message',
      'renderer/chat/transcript/failures/error-report.tsx: failure.hint',
      'renderer/models/downloads/fetch-model.ts: { code, message, details }',
      // The beginning and the end of a key.
      'renderer/server/keys.tsx: key.hint',
      // Under Details, which takes it from a variable.
      'renderer/server/network-address.tsx: { reason, port, message }',
      // What is wrong with JSON, or with a formula, that somebody wrote.
      'renderer/settings/add-server.tsx: (error as Error).message',
      'renderer/ui/markdown/math.tsx: error.message',
    ]);
  });
});
