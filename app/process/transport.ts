import type { ChildProcess, Serializable } from 'node:child_process';
import type { Pipe } from '../protocol/index.ts';

//  Every channel between two of our processes as a Pipe: a Node child process, its parent, and Electron's message
//  ports (declared structurally, because app/ does not depend on Electron).

/** `fork(..., { serialization: 'advanced' })`, seen from the parent. */
export function pipeToChild<Out, In>(child: ChildProcess): Pipe<Out, In> {
  return {
    send(message) {
      // A child that has just died accepts no messages; its end is reported by onClose.
      if (child.connected) child.send(message as Serializable, () => {});
    },
    onMessage: (listener) => void child.on('message', (message) => listener(message as In)),
    onClose: (listener) => onceClosed(child, child.connected, listener),
    close: () => {
      if (child.connected) child.disconnect();
    },
  };
}

/** The parent, seen from a forked process. */
export function pipeToParent<Out, In>(): Pipe<Out, In> {
  return {
    send(message) {
      if (process.connected) process.send?.(message, undefined, {}, () => {});
    },
    onMessage: (listener) => void process.on('message', (message) => listener(message as In)),
    onClose: (listener) => onceClosed(process, process.connected, listener),
    close: () => {
      if (process.connected) process.disconnect();
    },
  };
}

function onceClosed(
  emitter: { once(event: 'disconnect', listener: () => void): unknown },
  open: boolean,
  listener: () => void,
) {
  if (open) emitter.once('disconnect', listener);
  else queueMicrotask(listener);
}

/** Electron's MessagePortMain. */
export type MessagePortLike = {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  start(): void;
  close(): void;
};

export function pipeOfMessagePort<Out, In>(port: MessagePortLike): Pipe<Out, In> {
  let open = true;
  port.on('close', () => {
    open = false;
  });
  return {
    send(message) {
      if (open) port.postMessage(message);
    },
    onMessage(listener) {
      port.on('message', ({ data }) => listener(data as In));
      port.start();
    },
    onClose(listener) {
      if (open) port.on('close', listener);
      else queueMicrotask(listener);
    },
    close() {
      open = false;
      port.close();
    },
  };
}
