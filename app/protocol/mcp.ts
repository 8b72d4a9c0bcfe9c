import { z } from 'zod';
import { McpServerId } from './ids.ts';

//  Tools of other programs, by the Model Context Protocol (https://modelcontextprotocol.io/specification/2025-06-18).

const text = z.string().max(4096);
const secrets = z.record(z.string().min(1).max(200), z.string().max(20_000));

/** How to reach a server: a program to start on this computer, or a URL. */
export const McpConfig = z.union([
  z.object({ command: text.min(1), args: z.array(text).max(200).default([]), env: secrets.default({}) }),
  z.object({ url: z.url({ protocol: /^https?$/ }).max(4096), headers: secrets.default({}) }),
]);
export type McpConfig = z.infer<typeof McpConfig>;

const serverName = z.string().trim().min(1).max(60);

export const NewMcpServer = z.object({ name: serverName, config: McpConfig });
export type NewMcpServer = z.infer<typeof NewMcpServer>;

/** Why a server is unavailable; the page has a sentence for each (strings `mcp.problem`). */
export const McpProblem = z.enum([
  'no-program', // command not found
  'ended', // the program ended
  'no-answer', // timeout
  'too-much', // it exceeded the message limits
  'refused', // an HTTP error, or a web page
  'off', // offline mode
  'failed', // an error of its own
]);
export type McpProblem = z.infer<typeof McpProblem>;

//  idle ──first call──▶ starting ──▶ ready | failed          ready ──ends, hangs──▶ failed ──next call──▶ starting
export const McpState = z.discriminatedUnion('status', [
  z.object({ status: z.literal('idle') }),
  z.object({ status: z.literal('starting') }),
  z.object({ status: z.literal('ready') }),
  z.object({ status: z.literal('failed'), problem: McpProblem, detail: z.string() }),
]);
export type McpState = z.infer<typeof McpState>;

export const McpTool = z.object({
  /** The name for the model. */
  name: z.string(),
  /** The server's own name. */
  title: z.string(),
  description: z.string(),
  /** According to the server: read-only, changing, or destructive. */
  kind: z.enum(['reads', 'changes', 'destroys']),
  /** Runs without asking. */
  always: z.boolean(),
});
export type McpTool = z.infer<typeof McpTool>;

/** A text with blanks that a server offers to its user. */
export const McpPrompt = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  arguments: z.array(z.object({ name: z.string(), description: z.string(), required: z.boolean() })),
  /** Its server suggests values for its blanks. Lists that were stored before this was known do not have it. */
  suggests: z.boolean().default(false),
});
export type McpPrompt = z.infer<typeof McpPrompt>;

export const McpPromptMessage = z.object({ role: z.enum(['user', 'assistant']), text: z.string() });
export type McpPromptMessage = z.infer<typeof McpPromptMessage>;

export const McpServer = z.object({
  id: McpServerId,
  name: z.string(),
  /** The command line, or the URL without query. */
  target: z.string(),
  remote: z.boolean(),
  /** Names of its secrets; the values are never returned. */
  secrets: z.array(z.string()),
  state: McpState,
  tools: z.array(McpTool),
  prompts: z.array(McpPrompt),
});
export type McpServer = z.infer<typeof McpServer>;

const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});
const which = z.object({ serverId: McpServerId });

export const mcpCalls = {
  'mcp.servers': call(z.void(), z.array(McpServer)),
  /** Starts each and lists its tools. One that cannot be reached is added all the same, with its problem. */
  'mcp.add': call(z.object({ servers: z.array(NewMcpServer).min(1).max(50) }), z.array(McpServer)),
  'mcp.remove': call(which, z.void()),
  /** Restarts it and lists its tools. */
  'mcp.restart': call(which, z.void()),
  /** The last lines of its log output. */
  'mcp.log': call(which, z.array(z.string())),
  /** Fills in a prompt of a server, which is started if necessary. */
  'mcp.prompt': call(
    z.object({
      serverId: McpServerId,
      name: z.string().min(1).max(200),
      given: z.record(z.string().min(1).max(200), z.string().max(20_000)),
    }),
    z.union([z.object({ messages: z.array(McpPromptMessage) }), z.object({ problem: McpProblem, detail: z.string() })]),
  ),
  /** What a server suggests for a blank as far as it is typed. Empty where it suggests nothing, fails or takes too long. */
  'mcp.complete': call(
    z.object({
      serverId: McpServerId,
      name: z.string().min(1).max(200),
      argument: z.string().min(1).max(200),
      value: z.string().max(20_000),
      given: z.record(z.string().min(1).max(200), z.string().max(20_000)),
    }),
    z.array(z.string()),
  ),
  /** Sets whether a tool runs without asking. */
  'mcp.setAlways': call(z.object({ serverId: McpServerId, tool: z.string().max(64), always: z.boolean() }), z.void()),
} as const;

export const mcpEvents = { 'mcp.changed': z.array(McpServer) } as const;

/** Parses the server configuration of other apps: `{"mcpServers": {NAME: {…}}}`, `{"servers": …}`, or the inner part alone.
 *  @throws Error with what is wrong, in English */
export function readMcpJson(json: string): NewMcpServer[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Error(error instanceof Error ? error.message : String(error));
  }
  const outer = record(value);
  const named = record(outer?.mcpServers ?? outer?.servers ?? outer);
  if (!named || Object.keys(named).length === 0) throw new Error('"mcpServers" is missing');
  return Object.entries(named).map(([name, entry]) => {
    const one = record(entry);
    if (!one) throw new Error(`"${name}" is no object`);
    const url = one.url ?? one.serverUrl;
    const config =
      url === undefined ? { command: one.command, args: one.args, env: one.env } : { url, headers: one.headers };
    const parsed = NewMcpServer.safeParse({ name, config });
    if (parsed.success) return parsed.data;
    throw new Error(`"${name}" needs "command" with "args" and "env", or "url" with "headers"`);
  });
}

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
