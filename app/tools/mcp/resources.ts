import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { textIn } from '../tool.ts';
import type { CallResult, Content } from './result.ts';

//  What a server has to read, beside its tools: files, records, pages, each under an address of its own. A model lists and reads them
//  by two tools more, which are allowed like the others. Both ask the server each time, and what was read stays in the conversation as
//  it was: no list is kept that could grow old, and nothing is open that a subscription could keep up to date.

export type ResourceAction = 'list' | 'read';

const NAMES: Readonly<Record<ResourceAction, string>> = { list: 'list_resources', read: 'read_resource' };

const PAGES = 5;
const MAX_LISTED = 500;

/** Nothing where the server has no resources; a tool of its own by one of these names stays what it is. */
export function resourceTools(client: Client, taken: readonly string[]) {
  if (!client.getServerCapabilities()?.resources) return [];
  const tool = (resource: ResourceAction, description: string, inputSchema: Record<string, unknown>) => ({
    name: NAMES[resource],
    description,
    inputSchema,
    readOnly: true,
    destructive: false,
    resource,
  });
  const uri = { type: 'string', description: 'As list_resources names it, or made by one of its templates' };
  return [
    tool('list', 'Lists what can be read here: addresses with a name each.', { type: 'object', properties: {} }),
    tool('read', 'Reads one of what list_resources lists.', { type: 'object', properties: { uri }, required: ['uri'] }),
  ].filter(({ name }) => !taken.includes(name));
}

type Limits = { signal: AbortSignal; timeout: number; maxTotalTimeout: number };

/** In the form of what a tool gives. @throws ToolError `arguments`, and what the client throws */
export async function askForResource(
  client: Client,
  action: ResourceAction,
  given: Readonly<Record<string, unknown>>,
  limits: Limits,
): Promise<CallResult> {
  if (action === 'list') return { content: [{ type: 'text', text: await listed(client, limits) }] };
  const { contents } = await client.readResource({ uri: textIn(given, 'uri') }, limits);
  return {
    content: contents.map(
      (resource): Content => ({ type: 'resource', resource: resource as Content['resource'] & object }),
    ),
  };
}

async function listed(client: Client, limits: Limits): Promise<string> {
  const lines: string[] = [];
  const line = (address: string, name: string, about: string | undefined) =>
    lines.push(`- ${address}: ${name}${about ? ` (${about})` : ''}`);
  let cursor: string | undefined;
  for (let page = 0; page < PAGES && lines.length < MAX_LISTED; page++) {
    const { resources, nextCursor } = await client.listResources(cursor === undefined ? {} : { cursor }, limits);
    for (const { uri, name, description } of resources) line(uri, name, description);
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  // Not every server that has resources has templates.
  const { resourceTemplates } = await client.listResourceTemplates({}, limits).catch(() => ({ resourceTemplates: [] }));
  for (const { uriTemplate, name, description } of resourceTemplates) line(uriTemplate, name, description);
  return lines.length === 0 ? 'There is nothing to read.' : lines.slice(0, MAX_LISTED).join('\n');
}
