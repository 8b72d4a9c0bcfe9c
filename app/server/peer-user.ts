import { readFileSync } from 'node:fs';

//  Which user is at the other end of a connection from this machine. Linux tells in /proc/net/tcp: a line a socket, with both
//  addresses in hexadecimal and the number of its user. https://docs.kernel.org/networking/proc_net_tcp.html

const loopback = '0100007F';

/** The number of the user who connected from `peerPort` to `port` on 127.0.0.1; null where the system does not say. */
export function userOf(peerPort: number, port: number, table = readTable()): number | null {
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');
  const wanted = ` ${loopback}:${hex(peerPort)} ${loopback}:${hex(port)} `;
  const line = table.split('\n').find((one) => one.includes(wanted));
  const uid = line?.trim().split(/\s+/)[7];
  return uid === undefined ? null : Number(uid);
}

function readTable(): string {
  try {
    return readFileSync('/proc/net/tcp', 'utf8');
  } catch {
    return '';
  }
}

/** Whether that is somebody else. The administrator may do everything anyway, and forwards ports for others. */
export function isStranger(peerPort: number | undefined, port: number): boolean {
  if (process.getuid === undefined || peerPort === undefined) return false;
  const user = userOf(peerPort, port);
  return user !== null && user !== 0 && user !== process.getuid();
}
