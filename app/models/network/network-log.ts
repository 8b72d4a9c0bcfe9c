import { isLoopback } from '../../engine/remote/address.ts';
import { guarded, type NetworkLogEntry } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { addNetworkLogEntry, listNetworkLog } from '../../store/models/network-log.ts';
import { DownloadError } from './download-error.ts';
import { addressOf, type Network, network } from './http-request.ts';
import type { RequestPurpose } from './request-purpose.ts';

/** Every network request goes through here: logged on the Privacy page with host, time and bytes, or refused if the
 *  network is switched off. Local folders are not network. */
export type NetworkLog = {
  /** The network for one purpose. */
  via(why: RequestPurpose): Network;
  /** Logs refusals from elsewhere: by the page's content security policy, by the local server. */
  refused(contact: Pick<NetworkLogEntry, 'host' | 'reason' | 'about'>): void;
  list(): NetworkLogEntry[];
  close(): void;
};

export type NetworkLogOptions = {
  db: Database;
  allowed: () => boolean;
  now: () => number;
  changed: () => void;
  net?: Network;
};

const WRITE_MS = 1000;
const MAX_TEXT = 200;
const MAX_WAITING = 100;

export function createNetworkLog({ db, allowed, now, changed, net = network }: NetworkLogOptions): NetworkLog {
  const waiting = new Map<string, NetworkLogEntry>();
  let timer: NodeJS.Timeout | null = null;

  function note(contact: NetworkLogEntry) {
    const key = JSON.stringify([contact.allowed, contact.host, contact.reason, contact.about]);
    const known = waiting.get(key);
    if (known) {
      known.at = contact.at;
      known.requestCount += contact.requestCount;
      known.bytes += contact.bytes;
    } else waiting.set(key, contact);
    timer ??= setTimeout(guarded(console.error, write), WRITE_MS);
    timer.unref();
  }

  function write() {
    if (timer) clearTimeout(timer);
    timer = null;
    if (waiting.size === 0) return;
    const rows = [...waiting.values()];
    waiting.clear();
    try {
      db.transaction(() => {
        for (const row of rows) addNetworkLogEntry(db, row);
      });
    } catch {
      return; // full disk or read-only folder: the download itself reports it
    }
    changed();
  }

  const row = (
    host: string,
    why: RequestPurpose,
    more: Pick<NetworkLogEntry, 'allowed' | 'requestCount' | 'bytes'>,
  ): NetworkLogEntry => ({
    at: now(),
    host: host.slice(0, MAX_TEXT),
    reason: why.reason,
    about: why.about.slice(0, MAX_TEXT),
    ...more,
  });

  /** Logs a request. @throws DownloadError `off` if the network is switched off */
  function pass({ host, hostname }: URL, why: RequestPurpose): void {
    // Another engine on this computer is not network, but is logged all the same: it may forward requests.
    const may = allowed() || (why.reason === 'engine' && isLoopback(hostname));
    note(row(host, why, { allowed: may, requestCount: 1, bytes: 0 }));
    if (may) return;
    throw new DownloadError('off', `[network] ${host} was not asked: the network is switched off in Settings, Privacy`);
  }

  return {
    via: (why) => ({
      ...net,
      async fetch(input, init) {
        pass(addressOf(input), why);
        return net.fetch(input, init);
      },
      async open(url, ...rest) {
        if (url.protocol !== 'file:') pass(url, why);
        return net.open(url, ...rest);
      },
      received(host, bytes) {
        if (host !== '') note(row(host, why, { allowed: true, requestCount: 0, bytes }));
      },
    }),
    refused({ host, reason, about }) {
      // Requests with ever new names share one row, so that they cannot fill the disk.
      const why = { reason, about: waiting.size < MAX_WAITING ? about : '' };
      note(row(waiting.size < MAX_WAITING ? host : 'many', why, { allowed: false, requestCount: 1, bytes: 0 }));
    },
    list() {
      write();
      return listNetworkLog(db, now());
    },
    close: write,
  };
}
