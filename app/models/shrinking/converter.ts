import {
  type ConverterProcess,
  FromConverter,
  type StartConverter,
  type ToConverter,
} from '../../conversion/process/messages.ts';
import { type FailureReason, firstProblem, guarded, LonghandError, type Report } from '../../protocol/index.ts';

export type Converter = {
  send(message: ToConverter): void;
  /** Settles with the last message, after which the process is gone.
   *  @throws LonghandError its failure, or that it ended by itself */
  result: Promise<FromConverter>;
  kill(): void;
};

/** What a process is for, as failures name it. */
export type Purpose = { where: string; lost: FailureReason };

/** One process that makes a model, evaluates one, or plans to. `hear` gets everything but its last message. */
export async function startConverter(
  start: StartConverter,
  { where, lost }: Purpose,
  hear: (message: FromConverter) => void,
  report: Report,
): Promise<Converter> {
  const process: ConverterProcess = await start();
  const { promise, resolve, reject } = Promise.withResolvers<FromConverter>();
  const result = promise.finally(() => process.ended);
  result.catch(() => {}); // nobody may be waiting any more
  process.pipe.onMessage(
    guarded(report, (given: unknown) => {
      const parsed = FromConverter.safeParse(given);
      if (!parsed.success) {
        reject(new LonghandError('internal', `[${where}] ${firstProblem(parsed.error)}`));
        return process.kill();
      }
      const message = parsed.data;
      if ('begun' in message || 'progress' in message || 'evaluation' in message) return hear(message);
      if ('failed' in message) {
        const { code, message: text, hint, details } = message.failed;
        reject(new LonghandError(code, text, { ...(hint !== undefined && { hint }), ...(details && { details }) }));
      } else resolve(message);
      process.kill();
    }),
  );
  void process.ended.then(({ how, lastWords }) =>
    reject(
      new LonghandError('engine-failed', `[${where}] the process ended: ${how}`, {
        details: { reason: lost, lastWords },
      }),
    ),
  );
  return { send: process.pipe.send, result, kill: process.kill };
}
