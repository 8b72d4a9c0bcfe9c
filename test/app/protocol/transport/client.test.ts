import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type ClientFrame,
  type CoreFrame,
  createClient,
  createSwitchboard,
  type Handlers,
  outliner,
  type Pipe,
  pipePair,
} from '../../../../app/protocol/index.ts';

//  The caller's side over a connection that comes, goes and comes back.

type End = Pipe<CoreFrame, ClientFrame>;

/** A core that answers every call with nothing, and remembers which came. */
function core(): { pipe: Pipe<ClientFrame, CoreFrame>; end: End; calls: string[] } {
  const [pipe, end] = pipePair<ClientFrame, CoreFrame>();
  const calls: string[] = [];
  end.onMessage((frame) => {
    if ('cancel' in frame) return;
    calls.push(frame.call);
    end.send({ id: frame.id, value: frame.call === 'engine.status' ? { phase: 'idle' } : undefined });
  });
  return { pipe, end, calls };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test('calls of the first moments wait for the first connection', async () => {
  const client = createClient();
  const answer = client.call('engine.restart');
  const first = core();
  client.attach(first.pipe);
  await answer;
  expect(first.calls).toEqual(['engine.restart']);
});

test('a call without a connection is refused at once, and never reaches the core that comes next', async () => {
  const client = createClient();
  const first = core();
  client.attach(first.pipe);
  first.pipe.close();
  await settled();
  await expect(client.call('engine.restart')).rejects.toMatchObject({ code: 'core-lost' });
  const second = core();
  client.attach(second.pipe);
  await settled();
  expect(second.calls).toEqual([]);
  await client.call('engine.status');
  expect(second.calls).toEqual(['engine.status']);
});

test('a call on its way when the connection ends is refused', async () => {
  const client = createClient();
  const [pipe] = pipePair<ClientFrame, CoreFrame>();
  client.attach(pipe);
  const answer = client.call('engine.restart');
  pipe.close();
  await expect(answer).rejects.toMatchObject({ code: 'core-lost' });
});

test('a connection that closes late does not take the new one with it', async () => {
  const client = createClient();
  const closes: (() => void)[] = [];
  const first = core();
  client.attach({ ...first.pipe, onClose: (listener) => closes.push(listener), close: () => {} });
  const second = core();
  client.attach(second.pipe);
  for (const close of closes) close();
  await client.call('engine.restart');
  expect(second.calls).toEqual(['engine.restart']);
});

test('a pipe that cannot take a call refuses it, and goes on with the next', async () => {
  const client = createClient();
  const first = core();
  const send = vi.fn(first.pipe.send).mockImplementationOnce(() => {
    throw new Error('cannot be cloned');
  });
  client.attach({ ...first.pipe, send });
  await expect(client.call('engine.restart')).rejects.toThrow('cannot be cloned');
  await client.call('engine.restart');
});

test('a listener that throws takes the event from no other, and neither does one that leaves', async () => {
  const faults: unknown[] = [];
  const client = createClient({ onFault: (fault) => faults.push(fault) });
  const first = core();
  client.attach(first.pipe);
  const heard: string[] = [];
  client.on('engine.status', () => {
    throw new Error('a fault in a page');
  });
  const leave = client.on('engine.status', () => {
    heard.push('once');
    leave();
  });
  client.on('engine.status', () => heard.push('last'));
  for (let time = 0; time < 2; time += 1)
    first.end.send({ event: 'engine.status', payload: { phase: 'idle' } } as CoreFrame);
  await settled();
  expect(heard).toEqual(['once', 'last', 'last']);
  expect(faults).toHaveLength(2);
});

test('an answer and an event that do not fit the table reach nobody, and are said', async () => {
  const faults: unknown[] = [];
  const client = createClient({ onFault: (fault) => faults.push(fault) });
  const [pipe, end] = pipePair<ClientFrame, CoreFrame>();
  end.onMessage((frame) => 'call' in frame && end.send({ id: frame.id, value: { phase: 'asleep' } }));
  client.attach(pipe);
  await expect(client.call('engine.status')).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('[engine.status] answer: "phase"'),
  });
  const heard: unknown[] = [];
  client.on('engine.status', (status) => heard.push(status));
  for (const payload of [{ phase: 'asleep' }, null, { phase: 'idle', more: 1 }])
    end.send({ event: 'engine.status', payload } as CoreFrame);
  await settled();
  expect(heard).toEqual([{ phase: 'idle' }]);
  expect(faults).toHaveLength(2);
});

test('a core that speaks another protocol is left, and the page is told to load again', async () => {
  const outdated = vi.fn();
  const client = createClient({ onOutdated: outdated });
  const first = core();
  const closed = vi.fn();
  first.end.onClose(closed);
  client.attach(first.pipe);
  first.end.send({ hello: 'an older build' });
  await settled();
  expect(outdated).toHaveBeenCalledOnce();
  expect(closed).toHaveBeenCalledOnce();
  await expect(client.call('engine.status')).rejects.toMatchObject({ code: 'core-lost' });
});

test('the core of the same build says so first, and is heard', async () => {
  const outdated = vi.fn();
  const client = createClient({ onOutdated: outdated });
  const [pipe, end] = pipePair<ClientFrame, CoreFrame>();
  createSwitchboard({ 'engine.status': () => ({ phase: 'idle' }) } as Partial<Handlers> as Handlers).add(end);
  client.attach(pipe);
  expect(await client.call('engine.status')).toEqual({ phase: 'idle' });
  expect(outdated).not.toHaveBeenCalled();
});

test('a call that is taken back ends on both sides; so does one whose caller goes away', async () => {
  const signals: AbortSignal[] = [];
  const switchboard = createSwitchboard({
    'engine.restart': (_, signal) => {
      signals.push(signal as AbortSignal);
      return new Promise(() => {});
    },
    'engine.status': () => ({ phase: 'idle' }),
  } as Partial<Handlers> as Handlers);
  const client = createClient();
  const [pipe, end] = pipePair<ClientFrame, CoreFrame>();
  switchboard.add(end);
  client.attach(pipe);
  const control = new AbortController();
  const taken = client.call('engine.restart', undefined, { signal: control.signal });
  const other = client.call('engine.restart');
  await settled();
  control.abort();
  await expect(taken).rejects.toMatchObject({ code: 'cancelled' });
  await settled();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  await expect(client.call('engine.restart', undefined, { signal: control.signal })).rejects.toMatchObject({
    code: 'cancelled',
  });
  expect(await client.call('engine.status')).toEqual({ phase: 'idle' });
  pipe.close();
  await expect(other).rejects.toMatchObject({ code: 'core-lost' });
  await settled();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test('whatever a schema takes or refuses is in the outline that builds are compared by', () => {
  const outline = (schema: z.ZodType) => JSON.stringify(outliner()(schema));
  const schemas = [
    z.object({ a: z.string() }),
    z.object({ b: z.string() }),
    z.object({ a: z.string().optional() }),
    z.object({ a: z.string().max(3) }),
    z.object({ a: z.string().max(4) }),
    z.object({ a: z.string().regex(/a/) }),
    z.object({ a: z.enum(['x', 'y']) }),
    z.object({ a: z.enum(['x']) }),
    z.object({ a: z.literal('x') }),
    z.object({ a: z.array(z.string()) }),
    z.object({ a: z.union([z.string(), z.number()]) }),
    z.object({ a: z.number().int().min(1) }),
    z.object({ a: z.number().int().min(2) }),
    z.object({ a: z.string().default('x') }),
  ];
  expect(new Set(schemas.map(outline)).size).toBe(schemas.length);
  expect(outline(z.object({ a: z.string() }))).toBe(outline(schemas[0] as z.ZodType));
});
