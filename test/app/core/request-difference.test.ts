import { expect, test } from 'vitest';
import { firstDifference } from '../../../app/core/request-difference.ts';

const said = (...texts: string[]) =>
  texts.map((text, at) => ({ role: at === 0 ? 'system' : at % 2 ? 'user' : 'assistant', text }));

test('what only goes on, or begins, has no difference', () => {
  expect(firstDifference(said('a', 'b'), [])).toBeNull();
  expect(firstDifference(said('a', 'b', 'c', 'd'), [said('a', 'b')])).toBeNull();
  expect(firstDifference(said('a', 'b'), [said('a', 'b', 'c')])).toBeNull();
});

test('the request that it resembles most counts, the newer of two', () => {
  const earlier = [said('Be kind.', 'One?'), said('Be kind.', 'Two'), said('Be kind.', 'Twins'), said('Else.')];
  expect(firstDifference(said('Be kind.', 'Twig'), earlier)).toEqual({
    role: 'user',
    before: '',
    was: 'Twins',
    now: 'Twig',
  });
  expect(firstDifference(said('Be kind.', 'Twe'), earlier)?.was).toBe('Two');
});

test('a message without a text is a message in common too, as of a picture', () => {
  expect(firstDifference(said('', 'Twig'), [said('Else.'), said('', 'One?')])?.was).toBe('One?');
});

test('a line of each is shown, with what stands before it, and no more of it than can be read', () => {
  const system = (line: string) => said(`First.\nSecond.\n${line}\nLast.`);
  const [before, same] = ['First.\nSecond.', 'x'.repeat(500)];
  expect(firstDifference(system('It is 9.'), [system('It is 8.')])).toEqual({
    role: 'system',
    before,
    was: 'It is 8.',
    now: 'It is 9.',
  });
  const long = firstDifference(system(`${same}A${same}`), [system(`${same}B${same}`)]);
  expect([long?.was.length, long?.now.length, long?.before.length]).toEqual([280, 280, 200]);
  expect(long?.now.indexOf('A')).toBe(80);
  expect(firstDifference(said('a\nb'), [said('a')])).toEqual({ role: 'system', before: '', was: 'a', now: 'a\nb' });
});

test('another role is a difference from its first letter on, and half a character is none', () => {
  const asked = [{ role: 'tools', text: '{"name":"look"}' }, ...said('Be kind.')];
  expect(firstDifference(asked, [said('Be kind.')])).toEqual({
    role: 'tools',
    before: '',
    was: 'Be kind.',
    now: '{"name":"look"}',
  });
  const cut = firstDifference(said(`🏳${'y'.repeat(79)}a`), [said(`🏳${'y'.repeat(79)}b`)]);
  expect(cut?.now.isWellFormed()).toBe(true);
});
