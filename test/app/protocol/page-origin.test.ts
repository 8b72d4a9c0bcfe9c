import { expect, test } from 'vitest';
import { originOf } from '../../../app/protocol/index.ts';

test.each([
  [' https://Chat.Example/ ', 'https://chat.example'],
  ['http://a.example:80', 'http://a.example'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['http://[::1]:5173', 'http://[::1]:5173'],
  ['chrome-extension://abcdef', 'chrome-extension://abcdef'],
])('%s is an origin', (typed, origin) => {
  expect(originOf(typed)).toBe(origin);
  expect(originOf(origin)).toBe(origin);
});

test.each([
  '',
  '*',
  'null',
  'chat.example',
  'localhost:3000',
  'https://*.example',
  'https://a.example/page',
  'https://a.example/?q',
  'https://a.example/#a',
  'https://me@a.example',
  'file:///home',
  'javascript:alert()',
  'data:text/html,a',
])('"%s" is none', (typed) => {
  expect(originOf(typed)).toBeNull();
});
