// A model hub that misbehaves on purpose: the API shape of the real one (model info with blobs, resolve with a redirect to
// a storage host), served from memory on 127.0.0.1, with faults that a test switches on and counts.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export type Faults = {
  /** Destroys the connection after this many bytes of a body; one entry per request, then no more. */
  cuts: number[];
  /** Flips a bit of the byte at this offset, in the first `times` answers that contain it. */
  corrupt: { at: number; times: number } | null;
  /** Sends this many bytes of a body and then stalls, for that many requests. */
  stall: { after: number; times: number } | null;
  /** Answers sent instead of content, one per request. */
  refusals: { status: number; retryAfter?: string }[];
  noRanges: boolean;
  /** Announces a size that is off by this many bytes. */
  wrongLength: number;
  /** Storage URLs expire after this many requests; the hub signs new ones. */
  addressLife: number;
  html: boolean;
  /** Keeps sending past the requested range, and announces no length. */
  endless: boolean;
  /** Sends the bytes compressed with gzip, with or without saying so. */
  packed: 'said' | 'unsaid' | null;
  /** After this many requests the content (and its ETag) changes. */
  changeAfter: number;
  bytesPerSecond: number | null;
};

const noFaults: Faults = {
  cuts: [],
  corrupt: null,
  stall: null,
  refusals: [],
  noRanges: false,
  wrongLength: 0,
  addressLife: Number.POSITIVE_INFINITY,
  html: false,
  endless: false,
  packed: null,
  changeAfter: Number.POSITIVE_INFINITY,
  bytesPerSecond: null,
};

export type Hub = Awaited<ReturnType<typeof startHub>>;

/** Non-repeating bytes, the same for the same seed. */
export function content(bytes: number, seed = 1): Buffer {
  const out = Buffer.allocUnsafe(bytes);
  let x = (seed * 2654435761) >>> 0 || 1;
  for (let i = 0; i < bytes; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    out[i] = x;
  }
  return out;
}
/** Cached: every request needs it, and files may be large. */
const hashes = new WeakMap<Uint8Array, string>();
function sha256(bytes: Uint8Array): string {
  const known = hashes.get(bytes);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(bytes).digest('hex');
  hashes.set(bytes, hash);
  return hash;
}

export async function startHub(options: {
  repository?: string;
  files: Record<string, Buffer>;
  faults?: Partial<Faults>;
  token?: string;
  models?: unknown[];
}) {
  const repository = options.repository ?? 'acme/tiny';
  const files = new Map(Object.entries(options.files));
  const faults: Faults = {
    ...noFaults,
    ...options.faults,
    cuts: [...(options.faults?.cuts ?? [])],
    refusals: [...(options.faults?.refusals ?? [])],
  };
  const commit = createHash('sha1')
    .update(JSON.stringify([...files.keys()]))
    .digest('hex');
  const seen = { requests: 0, bytes: 0, ranges: [] as string[], storageTokens: 0, apiTokens: 0 };
  const signatures = new Map<string, number>();
  const changed = new Map<string, Buffer>();
  const versionOf = (name: string): Buffer | undefined => {
    const bytes = files.get(name);
    if (!bytes || seen.requests <= faults.changeAfter) return bytes;
    const other = changed.get(name) ?? Buffer.from(bytes.map((byte) => byte ^ 0x55));
    changed.set(name, other);
    return other;
  };

  const storage = await listen((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    if (request.headers.authorization) seen.storageTokens++;
    const signature = url.searchParams.get('signature') ?? '';
    const used = (signatures.get(signature) ?? Number.POSITIVE_INFINITY) + 1;
    signatures.set(signature, used);
    if (used > faults.addressLife) return void response.writeHead(403).end('expired');
    serve(decodeURIComponent(url.pathname.slice(1)), request, response);
  });
  const api = await listen((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x');
    if (request.headers.authorization) seen.apiTokens++;
    if (options.token && request.headers.authorization !== `Bearer ${options.token}`)
      return void response.writeHead(401).end();
    const resolve = new RegExp(`^/${repository}/resolve/[^/]+/(.+)$`).exec(url.pathname);
    if (resolve) {
      const signature = randomUUID();
      signatures.set(signature, 0);
      const name = decodeURIComponent(resolve[1] ?? '');
      const bytes = files.get(name);
      if (!bytes) return void response.writeHead(404).end();
      return void response
        .writeHead(302, {
          location: `${storage.origin}/${encodeURIComponent(name)}?signature=${signature}`,
          'x-repo-commit': commit,
          'x-linked-size': String(bytes.length),
          'x-linked-etag': `"${sha256(bytes)}"`,
        })
        .end();
    }
    if (url.pathname.startsWith(`/api/models/${repository}/tree/`)) return json(response, tree());
    if (url.pathname.startsWith(`/api/models/${repository}`)) return json(response, info());
    if (url.pathname === '/api/models') return json(response, options.models ?? [info()]);
    response.writeHead(404).end();
  });

  function info() {
    const siblings = [...files].map(([name, bytes]) => ({
      rfilename: name,
      size: bytes.length,
      blobId: 'x',
      lfs: { sha256: sha256(bytes), size: bytes.length, pointerSize: 134 },
    }));
    return {
      _id: '1',
      id: repository,
      modelId: repository,
      sha: commit,
      private: false,
      gated: false,
      downloads: 3,
      likes: 1,
      lastModified: '2026-01-01T00:00:00.000Z',
      siblings,
      tags: ['safetensors'],
      config: { model_type: 'qwen3' },
    };
  }

  function tree() {
    return [...files].map(([path, bytes]) => ({
      type: 'file',
      path,
      oid: 'x',
      size: bytes.length,
      lfs: { oid: sha256(bytes), size: bytes.length, pointerSize: 134 },
    }));
  }

  function serve(name: string, request: IncomingMessage, response: ServerResponse): void {
    seen.requests++;
    const refusal = faults.refusals.shift();
    if (refusal)
      return void response
        .writeHead(refusal.status, refusal.retryAfter ? { 'retry-after': refusal.retryAfter } : {})
        .end();
    if (faults.html) return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
    const plain = versionOf(name);
    const whole = plain && faults.packed ? gzipSync(plain) : plain;
    if (!whole) return void response.writeHead(404).end();
    const range = faults.noRanges ? null : /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    const first = range ? Number(range[1]) : 0;
    const last = range ? Math.min(Number(range[2]), whole.length - 1) : whole.length - 1;
    if (first >= whole.length) return void response.writeHead(416).end();
    seen.ranges.push(`${first}-${last}`);
    const total = whole.length + faults.wrongLength;
    response.writeHead(range ? 206 : 200, {
      etag: `"${sha256(whole)}"`,
      'content-type': 'application/octet-stream',
      ...(range && { 'content-range': `bytes ${first}-${last}/${total}` }),
      ...(!faults.endless && { 'content-length': String(range ? last - first + 1 : total) }),
      ...(faults.packed === 'said' && { 'content-encoding': 'gzip' }),
    });
    void stream(response, whole, first, last);
  }

  async function stream(response: ServerResponse, whole: Buffer, first: number, last: number): Promise<void> {
    const cut = faults.cuts.shift();
    const stall = faults.stall && faults.stall.times-- > 0 ? faults.stall.after : null;
    let sent = 0;
    const PIECE = 64 * 1024;
    for (let at = first; at <= last; at += PIECE) {
      let piece = Buffer.from(whole.subarray(at, Math.min(last + 1, at + PIECE)));
      const place = faults.corrupt ? faults.corrupt.at - at : -1;
      if (faults.corrupt && faults.corrupt.times > 0 && place >= 0 && place < piece.length) {
        piece[place] = (piece[place] ?? 0) ^ 0x10;
        faults.corrupt.times--;
      }
      const limit = cut ?? stall;
      if (limit !== null && limit !== undefined && sent + piece.length > limit) piece = piece.subarray(0, limit - sent);
      seen.bytes += piece.length;
      sent += piece.length;
      if (!response.write(piece)) await drained(response);
      if (response.destroyed) return;
      if (limit !== null && limit !== undefined && sent >= limit) {
        if (cut !== undefined) setTimeout(() => response.destroy(), 5);
        return;
      }
      if (faults.bytesPerSecond)
        await new Promise((go) => setTimeout(go, (piece.length * 1000) / (faults.bytesPerSecond ?? 1)));
    }
    while (faults.endless && !response.destroyed) if (!response.write(Buffer.alloc(PIECE))) await drained(response);
    response.end();
  }

  return {
    url: api.origin,
    repository,
    commit,
    faults,
    seen,
    bytesOf: (name: string) => files.get(name) ?? Buffer.alloc(0),
    sha256: (name: string) => sha256(files.get(name) ?? Buffer.alloc(0)),
    addressOf: (name: string) => ({
      url: `${api.origin}/${repository}/resolve/${commit}/${encodeURIComponent(name)}`,
      ...(options.token && { token: options.token }),
    }),
    /** Bytes that were sent more than once. */
    bytesServedTwice: () => Math.max(0, seen.bytes - [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0)),
    async stop() {
      await Promise.all([api.close(), storage.close()]);
    },
  };
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((go) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      go();
    };
    response.on('drain', done).on('close', done);
  });
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function listen(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server: Server = createServer(handler);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}
