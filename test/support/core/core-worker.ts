import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

//  main/processes/core-entry.ts, or its bundle named by `workerData.core`, in a worker instead of Electron's utility process. A
//  worker that ends releases everything it held, as a process would.

const wrapped = (real: MessagePort) => ({
  postMessage: (message: unknown) => real.postMessage(message),
  on(event: string, listener: (given?: { data: unknown }) => void) {
    if (event === 'message') real.on('message', (data) => listener({ data }));
    else real.on('close', () => listener());
  },
  start: () => real.start(),
  close: () => real.close(),
});

Object.assign(process, {
  // A worker cannot set a umask of its own; test/attack tests the real processes.
  umask: () => 0o022,
  parentPort: {
    postMessage: (message: unknown) => parentPort?.postMessage(message),
    on: (_: 'message', listener: (event: { data: unknown; ports: unknown[] }) => void) =>
      parentPort?.on('message', ({ data, ports }: { data: unknown; ports: MessagePort[] }) =>
        listener({ data, ports: ports.map(wrapped) }),
      ),
  },
});
await import(workerData?.core ?? '../../../main/processes/core-entry.ts');
