import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { guarded, LonghandError } from '../protocol/index.ts';
import { isStranger } from './peer-user.ts';

/** Opens a port on 127.0.0.1 alone; 0 takes any that is free. Returns the one it got.
 *  @throws LonghandError `conflict` where it is taken, `permission` where it may not be opened */
export async function listen(server: Server, port: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new LonghandError('conflict', `[--port] ${port} is taken by another program`);
    if (code === 'EACCES') throw new LonghandError('permission', `[--port] ${port} may not be opened`);
    throw error;
  }
  return (server.address() as AddressInfo).port;
}

/** Connections that are open at once. Each takes a descriptor, of which files and the database need some as well. */
const maxConnections = 256;
/** From so many on it is asked whose they are: one user of the computer does not take the room of another. */
const MANY = 64;

/** Holds the connections of a server to that. */
export function keepRoom(server: Server, port: number): void {
  server.maxConnections = maxConnections;
  let open = 0;
  server.on(
    'connection',
    guarded(console.error, (socket: Socket) => {
      if (open >= MANY && isStranger(socket.remotePort, port)) return socket.destroy();
      open++;
      socket.once(
        'close',
        guarded(console.error, () => open--),
      );
    }),
  );
}
