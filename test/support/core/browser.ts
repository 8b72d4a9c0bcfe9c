import { WebSocket } from 'ws';
import {
  type CallFrame,
  type Client,
  type CoreFrame,
  createClient,
  socketPath,
  subprotocol,
} from '../../../app/protocol/index.ts';
import { enter } from '../../../app/server/one-time-address.ts';

export { enter };

export async function openSocket(address: string): Promise<{ client: Client; socket: WebSocket }> {
  const { origin, secret } = await enter(address);
  const socket = new WebSocket(origin.replace('http', 'ws') + socketPath, [subprotocol, secret], { origin });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => {});
  const client = createClient();
  client.attach({
    send: (frame: CallFrame) => socket.send(JSON.stringify(frame)),
    onMessage: (listener) => void socket.on('message', (data) => listener(JSON.parse(String(data)) as CoreFrame)),
    onClose: (listener) => void socket.on('close', listener),
    close: () => socket.close(),
  });
  return { client, socket };
}
