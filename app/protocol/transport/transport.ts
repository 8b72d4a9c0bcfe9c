/** A two-way message channel between processes (or within one). A WebSocket, a MessagePort, the IPC channel of a
 *  child process and an in-memory pair all have this interface. Messages arrive in order; nothing arrives after the close. */
export type Pipe<Out, In> = {
  send(message: Out): void;
  onMessage(listener: (message: In) => void): void;
  /** Called once, even if it closed before the listener was added. */
  onClose(listener: () => void): void;
  close(): void;
};

/** Both ends of a pipe within one process. Messages are cloned and arrive asynchronously, as between processes. */
export function pipePair<A, B>(): [Pipe<A, B>, Pipe<B, A>] {
  const left = end<B>();
  const right = end<A>();
  const close = () => {
    left.close();
    right.close();
  };
  return [
    { send: right.deliver, onMessage: left.onMessage, onClose: left.onClose, close },
    { send: left.deliver, onMessage: right.onMessage, onClose: right.onClose, close },
  ];
}

function end<In>() {
  const messages: ((message: In) => void)[] = [];
  const waiting: In[] = [];
  const closes: (() => void)[] = [];
  let open = true;
  const hand = (message: In) => {
    if (!open) return;
    if (messages.length === 0) waiting.push(message);
    for (const listener of messages) listener(message);
  };
  return {
    deliver(message: In) {
      const copy = structuredClone(message);
      queueMicrotask(() => hand(copy));
    },
    onMessage(listener: (message: In) => void) {
      messages.push(listener);
      for (const message of waiting.splice(0)) listener(message);
    },
    onClose(listener: () => void) {
      if (open) closes.push(listener);
      else queueMicrotask(listener);
    },
    close() {
      if (!open) return;
      open = false;
      for (const listener of closes.splice(0)) queueMicrotask(listener);
    },
  };
}
