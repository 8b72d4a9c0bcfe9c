import { Worker } from 'node:worker_threads';
import { type Tool, ToolError, textIn } from '../tool.ts';
import type { SandboxJob, SandboxReply } from './sandbox-worker.ts';

const TIME_LIMIT_MS = 10_000;
/** Of the program's values. */
const MEMORY_BYTES = 64 * 1024 * 1024;
/** Of the thread beside them. */
const HEAP_MB = 96;
const OUTPUT_CHARACTERS = 20_000;
/** A program that does not even listen to its own clock is ended from outside. */
const GRACE_MS = 2000;

/** `file`: of the sandbox worker. */
export const javascript = (file: string, timeLimitMs = TIME_LIMIT_MS): Tool => ({
  name: 'run_javascript',
  builtIn: true,
  description:
    'Runs JavaScript (ES2023) and returns what console.log printed and the value of the last expression. ' +
    'For what is easier to program than to think through: counting, sorting, dates, text, many numbers. ' +
    'There are no files, no network, no modules and no timers.',
  parameters: {
    type: 'object',
    properties: { code: { type: 'string', description: 'The program' } },
    required: ['code'],
  },
  async run(given, { signal }) {
    const code = textIn(given, 'code');
    const reply = await replyTo(
      file,
      { code, timeLimitMs, memoryBytes: MEMORY_BYTES, outputCharacters: OUTPUT_CHARACTERS },
      signal,
    );
    if (!('error' in reply))
      return (
        [reply.output, reply.value].filter((part) => part !== null && part !== '').join('\n') ||
        'It ended without a value.'
      );
    const said = reply.output === '' ? reply.error : `${reply.error}\n${reply.output}`;
    if (reply.late) throw tooLong(timeLimitMs);
    throw new ToolError('failed', said);
  },
});

const tooLong = (ms: number) => new ToolError('timed-out', `no result within ${ms / 1000} seconds`);

/** A thread for each program, so that nothing of one is left for the next. */
function replyTo(file: string, job: SandboxJob, signal: AbortSignal): Promise<SandboxReply> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(job.timeLimitMs + GRACE_MS)]);
  const worker = new Worker(file, {
    workerData: job,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 16 },
  });
  return new Promise<SandboxReply>((resolve, reject) => {
    limit.addEventListener('abort', () => reject(tooLong(job.timeLimitMs)), { once: true });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new ToolError('failed', 'it ended without a result')));
  }).finally(() => worker.terminate());
}
