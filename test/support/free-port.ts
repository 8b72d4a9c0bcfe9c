import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const given = new Set<number>();

/** A port of this computer that nobody listens on; another one each time, though the system may name one again once it is free. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  if (given.has(port)) return freePort();
  given.add(port);
  return port;
}
