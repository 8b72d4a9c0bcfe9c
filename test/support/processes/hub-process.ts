// The fake hub in a process of its own, so that a test can measure the cost of the download alone.
// node test/support/processes/hub-process.ts MEBIBYTES BYTES_PER_SECOND
import { content, startHub } from '../fakes/hub.ts';

const [mebibytes = '', speed = ''] = process.argv.slice(2);
const hub = await startHub({ files: { 'model.safetensors': content(Number(mebibytes) * 2 ** 20) } });
hub.faults.bytesPerSecond = Number(speed) || null;
process.send?.({ url: hub.url });
process.once('disconnect', () => process.exit());
