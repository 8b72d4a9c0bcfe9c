import { onTestFinished } from 'vitest';
import type { Core } from '../../../../app/core/core.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../../../app/server/api/api-server.ts';
import { startCore } from '../../../support/core/core.ts';

export const KEY = 'lh-test-key';

/** The kinds of events of a message in a response, in their order, each once. */
export const eventsOfMessage: readonly string[] = [
  'output_item.added',
  'content_part.added',
  'output_text.delta',
  'output_text.done',
  'content_part.done',
  'output_item.done',
];

/** A server over a real core and the real built-in model. */
export async function startApi(
  options: Partial<ApiServerOptions> = {},
  core: Parameters<typeof startCore>[0] = {},
): Promise<ApiServer & { host: Core; model: string; refused: string[] }> {
  const { host } = await startCore(core);
  const refused: string[] = [];
  const server = await startApiServer({
    inference: host.inference,
    version: '1.2.3',
    port: 0,
    keys: [KEY],
    refused: ({ status, path }) => refused.push(`${status} ${path}`),
    ...options,
  });
  onTestFinished(() => server.close());
  const model = (await host.inference.models()).find(({ kind }) => kind === 'chat')?.id ?? '';
  return { ...server, host, model, refused };
}
