import { expect, test } from 'vitest';
import { type ClientFrame, type CoreFrame, pipePair } from '../../app/protocol/index.ts';
import { attach, useConnection } from '../../renderer/bridge.ts';

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test('the page says when its connection is lost, and only when it is its own', async () => {
  const [first] = pipePair<ClientFrame, CoreFrame>();
  const [second] = pipePair<ClientFrame, CoreFrame>();
  attach(first);
  expect(useConnection.getState()).toEqual({ status: 'open', epoch: 1 });
  attach(second); // closes the first one, which says so late
  await settled();
  expect(useConnection.getState()).toEqual({ status: 'open', epoch: 2 });
  second.close();
  await settled();
  expect(useConnection.getState().status).toBe('lost');
});
