import { type ErrorCode, type Failure, LonghandError } from '../../protocol/index.ts';

/** Error codes of the addon (native/addon/index.d.ts) as codes of the protocol. */
const codes: Record<string, ErrorCode> = {
  format: 'model-broken',
  unsupported: 'model-unsupported',
  memory: 'out-of-memory',
  cancelled: 'cancelled',
  context: 'context-full',
  state: 'internal',
  argument: 'bad-request',
  device: 'engine-failed',
  internal: 'engine-failed',
};

export function toLonghandError(error: unknown): LonghandError {
  if (error instanceof LonghandError) return error;
  if (!(error instanceof Error)) return new LonghandError('engine-failed', String(error));
  const code = 'code' in error && typeof error.code === 'string' ? codes[error.code] : undefined;
  const details = isGpuFault(error) ? { details: { gpu: true } } : {};
  return new LonghandError(code ?? 'engine-failed', error.message, { cause: error, ...details });
}

/** The GPU failed: the model is fine, and the CPU can take over. */
const isGpuFault = (error: Error): boolean => 'code' in error && error.code === 'device';
export const toldOfGpu = (failure: Failure): boolean => failure.details?.gpu === true;
