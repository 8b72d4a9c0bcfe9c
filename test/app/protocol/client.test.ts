import { expect, test, vi } from 'vitest';
import { type CallFrame, type CoreFrame, createClient, type Pipe, pipePair } from '../../../app/protocol/index.ts';

//  The caller's side over a connection that comes, goes and comes back.

type End = Pipe<CoreFrame, CallFrame>;

/** A core that answers every call with nothing, and remembers which came. */
function core(): { pipe: Pipe<CallFrame, CoreFrame>; end: End; calls: string[] } {
  const [pipe, end] = pipePair<CallFrame, CoreFrame>();
  const calls: string[] = [];
  end.onMessage((frame) => {
    calls.push(frame.call);
    end.send({ id: frame.id, value: null });
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
  const [pipe] = pipePair<CallFrame, CoreFrame>();
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
  const client = createClient((fault) => faults.push(fault));
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
