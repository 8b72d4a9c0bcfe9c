import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { socketPath, subprotocol } from '../../../app/protocol/index.ts';
import { startBrowserHost } from '../../../app/server/web-server.ts';
import { enter } from '../../support/core/browser.ts';
import { newFolder, startCore } from '../../support/core/core.ts';

test('a socket whose other end is silent is closed; one that answers stays', async () => {
  const { host } = await startCore();
  const served = await startBrowserHost({ host, renderer: newFolder(), port: 0, heartbeatMs: 150 });
  onTestFinished(() => served.close());
  const open = async (autoPong: boolean) => {
    const { origin, secret } = await enter(served.address());
    const socket = new WebSocket(origin.replace('http', 'ws') + socketPath, [subprotocol, secret], {
      origin,
      autoPong,
    });
    await new Promise((resolve) => socket.once('open', resolve));
    return socket;
  };
  const silent = await open(false);
  const closed = new Promise((resolve) => silent.once('close', resolve));
  const alive = await open(true);
  expect(alive.protocol).toBe(subprotocol);
  await closed;
  expect(alive.readyState).toBe(WebSocket.OPEN);
  alive.close();
});
