import { z } from 'zod';
import { McpServerId } from './ids.ts';

//  Tools of other programs, by the Model Context Protocol (https://modelcontextprotocol.io/specification/2025-06-18).

const text = z.string().max(4096);
const secrets = z.record(z.string().min(1).max(200), z.string().max(20_000));

/** How a server is reached: a program of this computer that is started, or an address. */
export const McpConfig = z.union([
  z.object({ command: text.min(1), args: z.array(text).max(200).default([]), env: secrets.default({}) }),
  z.object({ url: z.url({ protocol: /^https?$/ }).max(4096), headers: secrets.default({}) }),
]);
export type McpConfig = z.infer<typeof McpConfig>;

const serverName = z.string().trim().min(1).max(60);

export const NewMcpServer = z.object({ name: serverName, config: McpConfig });
export type NewMcpServer = z.infer<typeof NewMcpServer>;

/** Why a server gives nothing; the page has a sentence for each (strings `mcp.problem`). */
export const McpProblem = z.enum([
  'no-program', // the command is not there
  'ended', // the program ended
  'no-answer', // nothing came in time
  'too-much', // it sent more than anybody reads
  'refused', // the address answered with an error, or with a page
  'off', // the network is switched off
  'failed', // it says why
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
  /** As the model calls it. */
  name: z.string(),
  /** As the server calls it. */
  title: z.string(),
  description: z.string(),
  /** By its own word it only reads, or it may change or delete what cannot be brought back. */
  kind: z.enum(['reads', 'changes', 'destroys']),
  /** It runs without being asked about. */
  always: z.boolean(),
});
export type McpTool = z.infer<typeof McpTool>;

export const McpServer = z.object({
  id: McpServerId,
  name: z.string(),
  /** The command line, or the address without what stands behind its path. */
  target: z.string(),
  remote: z.boolean(),
  /** Names of what is handed to it in secret; the values never come back. */
  secrets: z.array(z.string()),
  state: McpState,
  tools: z.array(McpTool),
});
export type McpServer = z.infer<typeof McpServer>;

const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});
const which = z.object({ serverId: McpServerId });

export const mcpCalls = {
  'mcp.servers': call(z.void(), z.array(McpServer)),
  /** Starts each and asks for its tools. One that cannot be reached is kept all the same, with why. */
  'mcp.add': call(z.object({ servers: z.array(NewMcpServer).min(1).max(50) }), z.array(McpServer)),
  'mcp.remove': call(which, z.void()),
  /** Starts it anew and asks for its tools. */
  'mcp.restart': call(which, z.void()),
  /** What it said beside the protocol, the last lines of it. */
  'mcp.log': call(which, z.array(z.string())),
  /** Whether a tool runs without being asked about. */
  'mcp.setAlways': call(z.object({ serverId: McpServerId, tool: z.string().max(64), always: z.boolean() }), z.void()),
} as const;

export const mcpEvents = { 'mcp.changed': z.array(McpServer) } as const;

/** The servers in a piece of JSON as other apps keep it: `{"mcpServers": {NAME: {…}}}`, `{"servers": …}`, or the inner part alone.
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
