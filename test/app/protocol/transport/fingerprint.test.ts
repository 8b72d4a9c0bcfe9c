import { expect, test } from 'vitest';
import { z } from 'zod';
import { outliner } from '../../../../app/protocol/transport/fingerprint.ts';

//  A page and a core of different builds have to find out: whatever validates otherwise has another outline.

const outlineOf = (schema: z.ZodType) => JSON.stringify(outliner()(schema));

test('schemas that accept the same have the same outline, however often they are made', () => {
  const make = () => z.object({ name: z.string().max(9).regex(/^a/), kind: z.enum(['x', 'y']).optional() });
  expect(outlineOf(make())).toBe(outlineOf(make()));
});

test.each<[string, z.ZodType, z.ZodType]>([
  ['a pattern', z.string().regex(/^a/), z.string().regex(/^b/)],
  ['the flag of a pattern', z.string().regex(/^a/), z.string().regex(/^a/i)],
  ['a length', z.string().max(9), z.string().max(10)],
  ['a minimum', z.number().min(1), z.number().min(2)],
  ['a minimum beyond 2^53', z.bigint().min(1n), z.bigint().min(2n)],
  ['a name', z.object({ a: z.string() }), z.object({ b: z.string() })],
  ['a choice', z.enum(['x', 'y']), z.enum(['x', 'z'])],
  ['what may be left out', z.object({ a: z.string() }), z.object({ a: z.string().optional() })],
  ['what may be null', z.string(), z.string().nullable()],
  ['a part deep within', z.array(z.object({ a: z.literal(1) })), z.array(z.object({ a: z.literal(2) }))],
])('%s is part of it', (_what, one, other) => {
  expect(outlineOf(one)).not.toBe(outlineOf(other));
});

test('a schema that contains itself has an end', () => {
  type Tree = { children: Tree[] };
  const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree) }));
  expect(outlineOf(tree).length).toBeLessThan(1000);
});
