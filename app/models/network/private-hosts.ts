import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

//  Private addresses, which only this computer or its network can reach. A redirect from the internet to one is an attempt to make us
//  request something for the server (SSRF): from a router, a printer, another program of this machine.

const own = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  own.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  own.addSubnet(network, prefix, 'ipv6');

/** Names that no public server has; those without a dot are resolved in the local network. */
const OWN_NAME = /^[^.]+$|\.(?:localhost|local|internal|lan|home\.arpa)$/;

export function isPrivateHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
  const version = isIP(host);
  return version === 0 ? OWN_NAME.test(host) : own.check(host, version === 4 ? 'ipv4' : 'ipv6');
}

/** Whether a redirect leads from the internet into the local network. */
export const leadsInside = (from: URL, to: URL): boolean => isPrivateHost(to) && !isPrivateHost(from);

/** Checks the resolved address at the moment of connecting: a name that was public when checked may be private by then (DNS rebinding). The
 *  name of a proxy may resolve to any address. */
export const publicLookup =
  ({ hostname }: URL): LookupFunction =>
  (name, options, done) =>
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const inside = name === hostname && found.some(({ address, family }) => isOwn(address, family));
      if (inside) return done(new Error(`${hostname} leads into the own network, which is not allowed`), []);
      if (options.all) return done(null, found);
      done(null, found[0]?.address ?? '', found[0]?.family);
    });

function isOwn(address: string, family: number): boolean {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  return mapped ? own.check(mapped, 'ipv4') : own.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
