import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LonghandError } from '../protocol/index.ts';

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
