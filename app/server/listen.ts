import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { guarded, LonghandError } from '../protocol/index.ts';
import { isStranger } from './peer-user.ts';

/** Listens on 127.0.0.1 only, or on all addresses of this computer; 0: any free port. Returns the port.
 *  @throws LonghandError `conflict` if it is in use, `permission` if it may not be opened */
export async function listen(server: Server, port: number, where: 'here' | 'network' = 'here'): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, where === 'here' ? '127.0.0.1' : undefined, () => {
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

/** Maximum open connections. Each takes a file descriptor, which files and the database need as well. */
const maxConnections = 256;
/** Above this number, connections are attributed to users, so that one user of the computer cannot block another. */
const MANY = 64;

/** Dropped connections still count with the system for a moment. */
const MARGIN = 32;

/** Enforces the limit on connections. If it is reached, the connection that has been idle longest
 *  is dropped, so that opening many silent connections locks nobody out. Returns a function that exempts a socket. */
export function keepRoom(server: Server, port: number): (socket: Socket) => void {
  server.maxConnections = maxConnections + MARGIN;
  const open = new Set<Socket>();
  /** A request over TLS comes with another socket than its connection did, which has the same other end. */
  const byPeer = new Map<string, Socket>();
  const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  /** Connections without a pending request, idle longest first. */
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
      const peer = peerOf(socket);
      byPeer.set(peer, socket);
      socket.once(
        'close',
        guarded(console.error, () => {
          open.delete(socket);
          idle.delete(socket);
          if (byPeer.get(peer) === socket) byPeer.delete(peer);
        }),
      );
    }),
  );
  server.on(
    'request',
    guarded(console.error, (request: IncomingMessage, response: ServerResponse) => {
      const socket = byPeer.get(peerOf(request.socket)) ?? request.socket;
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
