import { expect, test } from 'vitest';
import { safePath } from '../../../../app/models/storage/safe-path.ts';

//  What a repository calls its files decides where they are written, so only plain names below the model's folder are taken.

test.each([
  'model.gguf',
  'weights/model-00001-of-00002.safetensors',
  'a/b/c/.hidden',
  '..data/x',
  'größe 名前 (1).json',
  'console/lpt10/nul1.txt',
  'x'.repeat(200),
  `${'y'.repeat(199)}/${'y'.repeat(199)}/${'z'.repeat(100)}`,
])('%.30s is taken as it is', (path) => {
  expect(safePath(path)).toBe(path);
});

test.each([
  '',
  '/',
  '/etc/passwd',
  'a//b',
  'a/',
  '.',
  './a',
  'a/./b',
  '..',
  '../a',
  'a/../../b',
  'a/..',
  'C:\\Windows',
  'a\\..\\b',
  'a:b',
  'what?',
  'a*',
  '<a>',
  '"a"',
  'a|b',
  'a.',
  'a./b',
  'a ',
  'a /b',
  'con',
  'NUL.txt',
  'sub/aux.json',
  'com1',
  'LPT9.gguf',
  'a\u0000b',
  'a\nb',
  'a\u001f',
  'a\u007f',
  'gpj.\u202efdp',
  'a\u2066b',
  'a\u200eb',
  '\ufeffa',
  'x'.repeat(201),
  `${'y'.repeat(200)}/${'y'.repeat(199)}/${'z'.repeat(100)}`,
])('%j is refused by name', (path) => {
  expect(() => safePath(path)).toThrow(
    expect.objectContaining({ code: 'bad-name', message: expect.stringContaining(JSON.stringify(path)) }),
  );
});
