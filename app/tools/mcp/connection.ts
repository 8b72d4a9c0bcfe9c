import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import {
  guarded,
  isReadableName,
  type McpConfig,
  type McpPrompt,
  type McpPromptMessage,
  type McpState,
} from '../../protocol/index.ts';
import { ToolError, type ToolResult } from '../tool.ts';
import { MAX_MS } from '../toolbox.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { type Blank, suggestionsFor } from './completion.ts';
import { McpError } from './mcp-error.ts';
import { createPace } from './pace.ts';
import type { ProgramTransport } from './program-transport.ts';
import { fillPrompt, listPrompts } from './prompts.ts';
import { askForResource, resourceTools } from './resources.ts';
import { type CallResult, resultOf } from './result.ts';

/** A tool as its server names it. */
export const NamedTool = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  readOnly: z.boolean(),
  destructive: z.boolean(),
  /** Not a tool of the server itself: lists or reads its resources. */
  resource: z.enum(['list', 'read']).optional(),
});
export type NamedTool = z.infer<typeof NamedTool>;

export type Offer = { tools: NamedTool[]; prompts: McpPrompt[] };

export type Connection = {
  state(): McpState;
  /** Its log output, with secrets masked. */
  log(): string[];
  /** Starts the server if necessary. @throws McpError */
  offer(): Promise<Offer>;
  /** Starts the server if necessary. @throws McpError */
  prompt(name: string, given: Readonly<Record<string, string>>): Promise<McpPromptMessage[]>;
  /** Starts the server if necessary, but not one that has failed: somebody is typing. None where anything goes wrong. */
  suggestions(blank: Blank, signal: AbortSignal | undefined): Promise<string[]>;
  /** @throws ToolError */
  call(
    tool: Pick<NamedTool, 'name' | 'resource'>,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolResult>;
  close(): Promise<void>;
};

export type ConnectionOptions = {
  version: string;
  /** Read at start: secrets may be in the keychain. */
  config: () => Promise<McpConfig>;
  /** For HTTP servers: logged on the Privacy page, or refused. */
  fetch: typeof fetch;
  changed: () => void;
  /** What it offers, listed since it started or said that it has changed. */
  offered: (offer: Offer) => void;
};

const START_MS = 30_000;
/** Between two listings that nobody asked for. */
const RELIST_MS = 1000;
const MAX_PAGES = 20;
const MAX_TOOLS = 200;
const MAX_SCHEMA = 32_000;
/** Maximum characters of all schemas of a server: they are part of every prompt. */
const MAX_SCHEMAS = 1_000_000;
const MAX_LINES = 200;
const MAX_LINE = 500;

export function createConnection({ version, config, fetch, changed, offered }: ConnectionOptions): Connection {
  let state: McpState = { status: 'idle' };
  let open: Promise<{ client: Client; transport: Transport }> | null = null;
  let secrets: string[] = [];
  const lines: string[] = [];
  const relisting = createPace(relist, RELIST_MS);

  function show(next: McpState) {
    state = next;
    changed();
  }

  function note(line: string) {
    lines.push(masked(line.slice(0, MAX_LINE), secrets));
    if (lines.length > MAX_LINES) lines.splice(0, lines.length - MAX_LINES);
  }

  function failed(error: unknown, transport: Transport | null): McpError {
    const own = (transport as Partial<ProgramTransport> | null)?.ended ?? null;
    const why = own && own.message !== 'it was stopped' ? own : asMcpError(error);
    open = null;
    const detail = masked(why.message.slice(0, 500), secrets);
    note(detail);
    show({ status: 'failed', problem: why.problem, detail });
    void transport?.close().catch(() => {});
    return new McpError(why.problem, detail);
  }

  async function connect() {
    show({ status: 'starting' });
    let transport: Transport | null = null;
    const flooded = (ended: McpError) => {
      const flooding = transport && Object.assign(transport, { ended });
      void flooding?.close().catch(() => {});
    };
    try {
      const { Client, StreamableHTTPClientTransport, createProgramTransport } = await import('./sdk.ts');
      const wanted = await config();
      const given = 'command' in wanted ? wanted.env : wanted.headers;
      secrets = Object.values(given).filter((value) => value.length >= 4);
      transport =
        'command' in wanted
          ? createProgramTransport(wanted, note)
          : (new StreamableHTTPClientTransport(new URL(wanted.url), {
              fetch: boundedFetch(fetch, flooded),
              requestInit: { headers: wanted.headers, redirect: 'error' },
            }) as Transport);
      const heard = { autoRefresh: false, debounceMs: 0, onChanged: guarded(console.error, relisting.ask) };
      const client = new Client(
        { name: 'Longhand', version },
        { capabilities: {}, jsonSchemaValidator: UNCHECKED, listChanged: { tools: heard, prompts: heard } },
      );
      await client.connect(transport, { timeout: START_MS });
      const mine = transport;
      client.onclose = guarded(console.error, () => {
        if (open) failed(new McpError('ended', 'the connection was closed'), mine);
      });
      show({ status: 'ready' });
      // What is stored may be old, or of a version of ours that did not keep prompts.
      relisting.ask();
      return { client, transport };
    } catch (error) {
      throw failed(error, transport);
    }
  }

  /** Nobody waits for this, so it neither starts a server nor ends one that is busy with a call. */
  async function relist() {
    const running = open;
    if (!running) return;
    try {
      const { client } = await running;
      const offer = await listOffer(client, note);
      if (open === running) offered(offer);
    } catch (error) {
      if (open === running) note(asMcpError(error).message);
    }
  }

  function connected() {
    open ??= connect();
    return open;
  }

  return {
    state: () => state,
    log: () => [...lines],
    async offer() {
      const { client, transport } = await connected();
      relisting.skip();
      try {
        return await listOffer(client, note);
      } catch (error) {
        throw failed(error, transport);
      }
    },
    async prompt(name, given) {
      const { client, transport } = await connected();
      try {
        const messages = await fillPrompt(client, name, given, START_MS);
        return messages.map(({ role, text }) => ({ role, text: masked(text, secrets) }));
      } catch (error) {
        if (isSaidByServer(error))
          throw new McpError('failed', masked((error as Error).message.slice(0, 500), secrets));
        throw failed(error, transport);
      }
    },
    async suggestions(blank, signal) {
      if (state.status === 'failed') return [];
      try {
        const { client } = await connected();
        const found = await suggestionsFor(client, blank, signal);
        return found.filter((one) => masked(one, secrets) === one);
      } catch {
        return [];
      }
    },
    async call({ name, resource }, given, signal) {
      const { client, transport } = await connected().catch((error: McpError) => {
        throw new ToolError('failed', `its server cannot be reached: ${error.message}`);
      });
      let answer: CallResult;
      try {
        const limits = { signal, timeout: MAX_MS, maxTotalTimeout: MAX_MS };
        answer = resource
          ? await askForResource(client, resource, given, limits)
          : ((await client.callTool({ name, arguments: given }, undefined, limits)) as CallResult);
      } catch (error) {
        if (signal.aborted) throw new ToolError('failed', 'it was stopped');
        if (error instanceof ToolError) throw error;
        // An error reported by the server leaves the connection intact; any other error ends it.
        if (isSaidByServer(error)) throw new ToolError('failed', masked((error as Error).message, secrets));
        const { problem, message } = failed(error, transport);
        throw new ToolError(problem === 'no-answer' ? 'timed-out' : 'failed', `its server: ${message}`);
      }
      const result = resultOf(answer);
      const text = masked(result.text, secrets);
      if (answer.isError) throw new ToolError('failed', text);
      return { ...result, text };
    },
    async close() {
      const last = open;
      open = null;
      const one = await last?.catch(() => null);
      await one?.transport.close().catch(() => {});
      show({ status: 'idle' });
    },
  };
}

/** The SDK's own code for a closed connection. */
const CLOSED = -32000;
const TIMED_OUT = -32001;

/** The JSON-RPC error code; null for other errors, such as HTTP errors with a numeric code. */
const rpcCode = (error: unknown): number | null =>
  error instanceof Error && error.name === 'McpError' && 'code' in error ? Number(error.code) : null;

function isSaidByServer(error: unknown): boolean {
  const code = rpcCode(error);
  return code !== null && code !== CLOSED && code !== TIMED_OUT;
}

/** Output schemas of servers are neither compiled nor enforced. */
const UNCHECKED = {
  getValidator:
    <T>() =>
    (input: unknown) => ({ valid: true as const, data: input as NonNullable<T>, errorMessage: undefined }),
};

/** Prompts that cannot be listed are none; what goes wrong with the tools is thrown. */
async function listOffer(client: Client, note: (line: string) => void): Promise<Offer> {
  const own = await listTools(client, note);
  const names = own.map(({ name }) => name);
  return { tools: [...own, ...resourceTools(client, names)], prompts: await promptsOf(client, note) };
}

async function promptsOf(client: Client, note: (line: string) => void): Promise<McpPrompt[]> {
  try {
    return await listPrompts(client, START_MS, note);
  } catch (error) {
    if (!isSaidByServer(error)) throw error;
    note((error as Error).message);
    return [];
  }
}

async function listTools(client: Client, note: (line: string) => void): Promise<NamedTool[]> {
  const found: NamedTool[] = [];
  let cursor: string | undefined;
  let all = 0;
  for (let page = 0; page < MAX_PAGES && found.length < MAX_TOOLS; page++) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: START_MS });
    for (const { name, description = '', inputSchema, annotations } of tools) {
      const length = name.length + description.length + JSON.stringify(inputSchema).length;
      all += length;
      if (length > MAX_SCHEMA || all > MAX_SCHEMAS) note(`[Longhand] "${name.slice(0, 100)}" is too large for a model`);
      else if (!isReadableName(name))
        note(`[Longhand] a tool has a name with hidden characters: ${JSON.stringify(name)}`);
      else {
        const readOnly = annotations?.readOnlyHint === true;
        found.push({
          name,
          description,
          inputSchema,
          readOnly,
          destructive: !readOnly && annotations?.destructiveHint === true,
        });
      }
    }
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  return found.slice(0, MAX_TOOLS);
}

function asMcpError(error: unknown): McpError {
  if (error instanceof McpError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (rpcCode(error) === TIMED_OUT) return new McpError('no-answer', message);
  if (isSaidByServer(error)) return new McpError('failed', message);
  const reason =
    (error as { details?: { reason?: unknown } } | null)?.details?.reason ?? (error as { code?: unknown } | null)?.code;
  if (reason === 'off') return new McpError('off', message);
  return new McpError('refused', message);
}

const masked = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((out, secret) => out.replaceAll(secret, '***'), text);
