import { WebSocket } from 'ws';
import { type CallFrame, type Client, type CoreFrame, createClient, socketPath } from '../../app/protocol/index.ts';

/** What a browser does with the printed address: gets the cookie, then opens the socket. */
export async function enter(address: string): Promise<{ origin: string; cookie: string }> {
  const answer = await fetch(address, { redirect: 'manual' });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { origin: new URL(address).origin, cookie };
}

export async function openSocket(address: string): Promise<{ client: Client; socket: WebSocket }> {
  const { origin, cookie } = await enter(address);
  const socket = new WebSocket(origin.replace('http', 'ws') + socketPath, { headers: { cookie, origin } });
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
