import type { IncomingMessage, Server, ServerResponse } from 'node:http';
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

/** Those that are being dropped still count with the system for a moment. */
const MARGIN = 32;

/** Holds the connections of a server to that. When there is no room for a new one, the one that has asked for nothing the longest
 *  makes it: whoever opens all of them and says nothing locks nobody out. Returns what to call with a socket that is to stay. */
export function keepRoom(server: Server, port: number): (socket: Socket) => void {
  server.maxConnections = maxConnections + MARGIN;
  const open = new Set<Socket>();
  /** Those without a request under way, in the order in which they fell idle. */
  const idle = new Set<Socket>();
  server.on(
    'connection',
    guarded(console.error, (socket: Socket) => {
      if (open.size >= MANY && isStranger(socket.remotePort, port)) return socket.destroy();
      if (open.size >= maxConnections) {
        const [longest] = idle;
        if (!longest) return socket.destroy();
        open.delete(longest);
        idle.delete(longest);
        longest.destroy();
      }
      open.add(socket);
      idle.add(socket);
      socket.once(
        'close',
        guarded(console.error, () => {
          open.delete(socket);
          idle.delete(socket);
        }),
      );
    }),
  );
  server.on(
    'request',
    guarded(console.error, ({ socket }: IncomingMessage, response: ServerResponse) => {
      idle.delete(socket);
      response.once(
        'close',
        guarded(console.error, () => {
          if (open.has(socket)) idle.add(socket);
        }),
      );
    }),
  );
  return (socket) => void idle.delete(socket);
}
