import { pipeOfMessagePort, pipeToParent } from '../../process/transport.ts';
import { runEngineHost } from './engine-server.ts';

//  The engine process: node main.ts ADDON WORKER PICTURE_WORKER, forked by Node or by Electron. In Electron the first message of the parent
//  brings the port to the core.

// Files it writes (packed weights, pipelines) are private to the user.
process.umask(0o077);

const [addon = '', worker = '', pictureWorker = ''] = process.argv.slice(2);

/** Electron's `process.parentPort`, by shape. */
type ParentPort = {
  once(event: 'message', listener: (event: { ports: Parameters<typeof pipeOfMessagePort>[0][] }) => void): void;
};
const { parentPort } = process as { parentPort?: ParentPort };

if (parentPort) {
  parentPort.once('message', ({ ports: [port] }) => {
    if (port) runEngineHost(pipeOfMessagePort(port), { addon, worker, pictureWorker });
  });
} else {
  runEngineHost(pipeToParent(), { addon, worker, pictureWorker });
}
