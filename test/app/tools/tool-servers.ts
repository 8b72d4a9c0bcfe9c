import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, McpServer, NewMcpServer } from '../../../app/protocol/index.ts';
import { listen, places, readMessage, root, startCore } from '../../support/core/core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';

//  Servers of tools behind the real core; the model alone is scripted.

export const template = readFileSync(join(places.resources, 'starter-model/chat_template.jinja'), 'utf8');
export const call = (name: string, given: Record<string, unknown>) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`;

export async function start(steps: readonly string[], dataFolder?: string) {
  let step = 0;
  const says = ({ priority }: { priority: string }) => (priority === 'chat' ? (steps[step++] ?? 'Done.') : '');
  const core = await startCore({
    startEngine: scriptedEngine(says, 4e9, template).startEngine,
    ...(dataFolder !== undefined && { dataFolder }),
  });
  return { ...core, heard: listen(core.client) };
}

export const bin = (name: string) => join(root, 'node_modules/@modelcontextprotocol', name, 'dist/index.js');
export const program = (name: string, args: string[], env: Record<string, string> = {}): NewMcpServer => ({
  name,
  config: { command: process.execPath, args, env },
});

/** A server that is written for a test: answers by `tools` and `call`, which see `send`. */
export function written(folder: string, body: string, before = '', capabilities: object = { tools: {} }): string[] {
  const file = join(folder, `server-${Math.round(performance.now() * 1000)}.mjs`);
  writeFileSync(
    file,
    `import { createInterface } from 'node:readline';
${before}
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
const tools = [{ name: 'go', description: 'Goes', inputSchema: { type: 'object', properties: {} } }];
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send(id, { protocolVersion: params.protocolVersion, capabilities: ${JSON.stringify(capabilities)}, serverInfo: { name: 't', version: '1' } });
  ${body}
  else if (method === 'tools/list') send(id, { tools });
});`,
  );
  return [file];
}

export async function ask(client: Client, heard: ReturnType<typeof listen>, servers: readonly McpServer[]) {
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', {
    chatId: chat.id,
    tools: servers.flatMap(({ tools }) => tools.map(({ name }) => name)),
  });
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'Go on.' });
  return {
    chat,
    sent,
    end: async () => {
      await heard.end(sent.turnId);
      return readMessage(client, chat.id, sent.messageId);
    },
  };
}

/** Answers what is asked about, in order. */
export function decide(client: Client, choices: ('once' | 'chat' | 'always' | 'deny')[]) {
  const asked: string[] = [];
  client.on('turn', ({ event, turnId }) => {
    if (event.type !== 'tool' || event.use.state.status !== 'asking') return;
    asked.push(event.use.name);
    const choice = choices.shift() ?? 'deny';
    void client.call('turns.decideTool', { turnId, useId: event.use.id, choice });
  });
  return asked;
}
