import { readFileSync } from 'node:fs';

//  The user at the other end of a local connection. On Linux from /proc/net/tcp: one line per socket, with both
//  addresses in hexadecimal and its user id. https://docs.kernel.org/networking/proc_net_tcp.html

const loopback = '0100007F';

/** The id of the user who connected from `peerPort` to `port` on 127.0.0.1; null if the system does not report it. */
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

/** Whether that is another user. Root is exempt: it can do everything anyway, and forwards ports for others. */
export function isStranger(peerPort: number | undefined, port: number): boolean {
  if (process.getuid === undefined || peerPort === undefined) return false;
  const user = userOf(peerPort, port);
  return user !== null && user !== 0 && user !== process.getuid();
}
