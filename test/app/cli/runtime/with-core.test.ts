// Commands that use the core of an app that is running.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import type { Context } from '../../../../app/cli/runtime/command.ts';
import { withCore } from '../../../../app/cli/runtime/with-core.ts';
import { enterPath, socketPath, subprotocol } from '../../../../app/protocol/index.ts';
import { lockFolder } from '../../../../app/store/lock.ts';
import { newFolder, places } from '../../../support/core/core.ts';

test('a command whose connection to the app breaks in the middle says so', async () => {
  const server = createServer((request, response) =>
    response.end(JSON.stringify(request.url === enterPath ? { secret: 'secret' } : { ticket: 'ticket' })),
  );
  const sockets = new WebSocketServer({ server, path: socketPath, handleProtocols: () => subprotocol });
  sockets.on('connection', (socket, { socket: connection }) => {
    // No frame of a socket begins like this.
    socket.once('message', () => connection.write(Buffer.alloc(8, 0xff)));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  const folder = newFolder();
  const lock = lockFolder(folder);
  onTestFinished(() => lock.release());
  const { port } = server.address() as AddressInfo;
  lock.announce({ address: `http://127.0.0.1:${port}`, key: 'k'.repeat(43) });
  const asked = withCore({ places } as unknown as Context, folder, (client) => client.call('settings.get'));
  await expect(asked).rejects.toMatchObject({ code: 'core-lost' });
});
