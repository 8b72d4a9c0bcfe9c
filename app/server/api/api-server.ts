import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Inference } from '../../core/inference.ts';
import { LonghandError } from '../../protocol/index.ts';
import { keepRoom, listen } from '../listen.ts';
import { type AccessControlOptions, createAccessControl, type Refusal } from './access-control.ts';
import { createAnswers } from './answers.ts';
import { anthropic, anthropicProblem } from './anthropic.ts';
import { ollama, ollamaProblem } from './ollama.ts';
import { openAi } from './openai/openai.ts';
import { problemResponse } from './openai/openai-objects.ts';
import { responses } from './openai/responses.ts';
import { type Problem, problemOf } from './problems.ts';
import { rerank } from './rerank.ts';

export type ApiServer = { address: string; port: number; close(): Promise<void> };

export type ApiServerOptions = {
  inference: Inference;
  version: string;
  /** 0: any free port. */
  port: number;
  keys: AccessControlOptions['keys'];
  origins?: AccessControlOptions['origins'];
  refused?: AccessControlOptions['refused'];
  follow?: AccessControlOptions['follow'];
};

/** Timeout for receiving a request body. */
const requestTimeoutMs = 60_000;
const headersTimeoutMs = 10_000;

/** Serves models to other programs on this machine, on 127.0.0.1 only.
 *  @throws LonghandError `conflict` if the port is in use */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { inference, version, keys, origins = [], refused = () => {}, follow } = options;
  const app = new Hono();
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  server.requestTimeout = requestTimeoutMs;
  server.headersTimeout = headersTimeoutMs;
  const port = await listen(server, options.port);
  keepRoom(server, port);
  const answers = createAnswers(inference);
  app.route('/', createAccessControl({ port, keys, origins, refused, follow }, refusal));
  app.route('/v1/messages', anthropic(inference, answers));
  app.route('/v1/responses', responses(answers));
  app.route('/v1/rerank', rerank(inference));
  app.route('/v1', openAi(inference, answers));
  app.route('/api', ollama(inference, answers, version));
  app.get('/', (context) => context.text('Longhand is running'));
  app.notFound((context) =>
    inDialect(
      context,
      problemOf(new LonghandError('not-found', `[path] ${context.req.method} ${context.req.path} is not served`)),
    ),
  );
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Every error is reported in the format of the client's API. */
function inDialect({ req }: Context, problem: Problem): Response {
  if (req.path.startsWith('/v1/messages')) return anthropicProblem(problem);
  return req.path.startsWith('/api/') ? ollamaProblem(problem) : problemResponse(problem);
}

const refusal = (context: Context, { status, reason }: Refusal): Response =>
  inDialect(context, {
    status,
    code: status === 429 ? 'too-busy' : status === 413 ? 'too-large' : 'permission',
    message: reason,
  });
