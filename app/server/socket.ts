import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import {
  type ClientFrame,
  type CoreFrame,
  guarded,
  type Pipe,
  parseJson,
  socketPath,
  subprotocol,
} from '../protocol/index.ts';
import type { Access } from './auth.ts';

/** Enough for a pasted book, but not to exhaust memory. */
const maxMessageBytes = 32 * 1024 * 1024;
/** A client that reads too slowly is disconnected; it reconnects and queries its state. */
const maxWaitingBytes = 64 * 1024 * 1024;

/** Maximum tabs. */
const maxSockets = 50;

export type SocketsOptions = {
  access: Access;
  /** False: rejected. */
  welcome: (port: number | undefined) => boolean;
  connect: (pipe: Pipe<CoreFrame, ClientFrame>) => void;
  /** Exempts its connection from being dropped when idle. */
  keep?: (socket: Socket) => void;
  heartbeatMs?: number;
};

export function serveSockets(server: Server, options: SocketsOptions) {
  const { access, welcome, connect, keep = () => {}, heartbeatMs = 30_000 } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    handleProtocols: () => subprotocol,
    // Thousands of calls sent at once are handled one per event-loop turn, interleaved with other clients.
    allowSynchronousEvents: false,
  });
  const alive = new WeakSet<WebSocket>();

  const upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const { host, origin } = request.headers;
    const path = request.url?.split('?', 1)[0];
    if (path !== socketPath || !access.hostAllowed(host)) return refuse(stream, '400 Bad Request');
    if (!access.originAllowed(origin, { required: true }) || !access.secretRight(offered(request))) {
      return refuse(stream, '403 Forbidden');
    }
    if (!welcome(request.socket.remotePort)) return refuse(stream, '403 Forbidden');
    if (sockets.clients.size >= maxSockets) return refuse(stream, '503 Service Unavailable');
    sockets.handleUpgrade(request, stream, head, (socket) => {
      keep(request.socket);
      alive.add(socket);
      socket.on('pong', () => alive.add(socket));
      connect(pipeOfSocket(socket));
    });
  };
  server.on('upgrade', guarded(console.error, upgrade));

  const beat = () => {
    for (const socket of sockets.clients) {
      if (!alive.delete(socket)) socket.terminate();
      else socket.ping();
    }
  };
  const heartbeat = setInterval(guarded(console.error, beat), heartbeatMs);

  return {
    close() {
      clearInterval(heartbeat);
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}

/** The secret, offered beside our subprotocol. */
function offered(request: IncomingMessage): string | undefined {
  const [ours, secret, ...more] = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  return ours === subprotocol && more.length === 0 ? secret : undefined;
}

function refuse(stream: Duplex, status: string) {
  stream.on('error', () => {});
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function pipeOfSocket(socket: WebSocket): Pipe<CoreFrame, ClientFrame> {
  // Too large, not UTF-8, broken frames: ws closes the socket with the right code after this event.
  socket.on('error', () => {});
  return {
    send(frame) {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > maxWaitingBytes) socket.terminate();
      else socket.send(JSON.stringify(frame));
    },
    onMessage(listener) {
      const hear = guarded(console.error, (data: RawData, isBinary: boolean) => {
        const frame = isBinary ? undefined : parse(String(data));
        if (frame === undefined) socket.close(1007, 'not JSON');
        else listener(frame as ClientFrame);
      });
      socket.on('message', hear);
    },
    onClose: (listener) => void socket.on('close', guarded(console.error, listener)),
    close: () => socket.close(1008, 'not a call'),
  };
}

function parse(text: string): unknown {
  try {
    return parseJson(text, 'frame');
  } catch {
    return undefined;
  }
}
