import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  guarded,
  type Handlers,
  LonghandError,
  McpConfig,
  McpServer,
  type McpServerId,
  type NewMcpServer,
  type Report,
} from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { storedJson } from '../../store/database/stored.ts';
import {
  addMcpServer,
  giveConsent,
  hasConsent,
  keepMcpOffer,
  listMcpServers,
  removeMcpServer,
  type StoredMcpServer,
  takeConsent,
} from '../../store/mcp-servers.ts';
import type { Parameters, Tool } from '../tool.ts';
import { type Connection, createConnection, NamedTool, type Offer } from './connection.ts';
import { McpError } from './mcp-error.ts';

type McpHandlers = Pick<Handlers, Extract<keyof Handlers, `mcp.${string}`>>;

export type McpServers = {
  /** Of all servers, as they named them last: to know them no server has to run. */
  tools(): Tool[];
  handlers: McpHandlers;
  /** Ends every program that was started. */
  close(): Promise<void>;
};

export type McpServersOptions = {
  db: Database;
  /** Seals secrets with the keychain of the system, where there is one. */
  cipher: { seal(text: string): Promise<string>; open(sealed: string): Promise<string> } | null;
  version: string;
  /** The network for what is asked of a server; local addresses are no network. */
  fetchFor: (name: string) => typeof fetch;
  changed: (servers: McpServer[]) => void;
  newId: () => string;
  now: () => number;
  report: Report;
};

const About = McpServer.pick({ target: true, remote: true, secrets: true });
type About = z.infer<typeof About>;
const NamedTools = z.array(NamedTool);

export function createMcpServers(options: McpServersOptions): McpServers {
  const { db, cipher, version, fetchFor, changed, newId, now, report } = options;
  const connections = new Map<McpServerId, Connection>();
  const stored = () => listMcpServers(db);
  const find = (id: McpServerId): StoredMcpServer => {
    const found = stored().find((one) => one.id === id);
    if (!found) throw new LonghandError('not-found', `[mcp] no server ${id}`);
    return found;
  };
  const told = guarded(report, () => changed(list()));

  function connectionOf({ id, name }: StoredMcpServer): Connection {
    const known = connections.get(id);
    if (known) return known;
    const made = createConnection({
      version,
      config: async () => {
        const { config, sealed } = find(id);
        return McpConfig.parse(JSON.parse(sealed === 1 && cipher ? await cipher.open(config) : config));
      },
      fetch: fetchFor(name),
      changed: told,
      offered: guarded(report, (offer) => {
        if (keep(id, offer)) told();
      }),
    });
    connections.set(id, made);
    return made;
  }

  const list = (): McpServer[] =>
    stored().map((server) => ({
      id: server.id,
      name: server.name,
      ...storedJson(About, server.about, { target: '', remote: false, secrets: [] }),
      state: connections.get(server.id)?.state() ?? { status: 'idle' },
      tools: namedIn(server).map((tool) => ({
        name: callName(server.name, tool.name),
        title: tool.name,
        description: tool.description,
        kind: tool.readOnly ? 'reads' : tool.destructive ? 'destroys' : 'changes',
        always: hasConsent(db, { ...subjectOf(server, tool), chatId: null }),
      })),
      prompts: storedJson(McpServer.shape.prompts, server.prompts, []),
    }));

  function toolOf(server: StoredMcpServer, named: NamedTool): Tool {
    const subject = subjectOf(server, named);
    return {
      name: callName(server.name, named.name),
      builtIn: false,
      of: { server: server.name, title: named.name },
      description: named.description,
      parameters: named.inputSchema as Parameters,
      consent: () => ({
        destroys: named.destructive,
        host: null,
        given: (chatId) => hasConsent(db, { ...subject, chatId }),
        give(chatId, choice) {
          const scope = choice === 'always' && !named.destructive ? null : chatId;
          if (choice === 'chat' || choice === 'always') giveConsent(db, { ...subject, chatId: scope });
          if (scope === null) told();
        },
      }),
      run: (given, { signal }) => connectionOf(server).call(named, given, signal),
    };
  }

  /** Whether it is another offer than before. */
  function keep(id: McpServerId, offer: Offer): boolean {
    const before = find(id);
    const [tools, prompts] = [JSON.stringify(offer.tools), JSON.stringify(offer.prompts)];
    if (tools === before.tools && prompts === before.prompts) return false;
    keepMcpOffer(db, id, tools, prompts);
    return true;
  }

  /** Starts it and keeps what it offers. That it cannot be reached is its state. */
  async function refresh(id: McpServerId) {
    try {
      keep(id, await connectionOf(find(id)).offer());
    } catch {
      return; // told as its state
    }
    told();
  }

  async function add({ name, config }: NewMcpServer): Promise<McpServerId> {
    const id = newId() as McpServerId;
    const names = stored().map((one) => one.name.toLowerCase());
    let free = name;
    for (let number = 2; names.includes(free.toLowerCase()); number++) free = `${name} ${number}`;
    const text = JSON.stringify(config);
    const sealed = cipher ? await cipher.seal(text) : null;
    const server = {
      id,
      name: free,
      config: sealed ?? text,
      sealed: sealed === null ? 0 : 1,
      about: JSON.stringify(aboutOf(config)),
      tools: '[]',
      prompts: '[]',
    };
    addMcpServer(db, server, now());
    return id;
  }

  return {
    tools: () => stored().flatMap((server) => namedIn(server).map((tool) => toolOf(server, tool))),
    handlers: {
      'mcp.servers': list,
      async 'mcp.add'({ servers }) {
        const added: McpServerId[] = [];
        for (const one of servers) added.push(await add(one));
        told();
        await Promise.all(added.map(refresh));
        return list();
      },
      async 'mcp.remove'({ serverId }) {
        find(serverId);
        const connection = connections.get(serverId);
        connections.delete(serverId);
        removeMcpServer(db, serverId);
        told();
        await connection?.close();
      },
      async 'mcp.restart'({ serverId }) {
        find(serverId);
        await connections.get(serverId)?.close();
        await refresh(serverId);
      },
      'mcp.log': ({ serverId }) => connections.get(serverId)?.log() ?? [],
      async 'mcp.prompt'({ serverId, name, given }) {
        try {
          return { messages: await connectionOf(find(serverId)).prompt(name, given) };
        } catch (error) {
          if (!(error instanceof McpError)) throw error;
          return { problem: error.problem, detail: error.message };
        }
      },
      'mcp.complete': ({ serverId, ...blank }, signal) => connectionOf(find(serverId)).suggestions(blank, signal),
      'mcp.setAlways'({ serverId, tool, always }) {
        const server = find(serverId);
        const named = namedIn(server).find((one) => callName(server.name, one.name) === tool);
        if (!named) throw new LonghandError('not-found', `[mcp] "${server.name}" has no tool "${tool}"`);
        if (always && named.destructive)
          throw new LonghandError('bad-request', '[mcp] a tool that can delete things needs permission each time');
        const subject = { ...subjectOf(server, named), chatId: null };
        if (always) giveConsent(db, subject);
        else takeConsent(db, serverId, named.name);
        told();
      },
    },
    async close() {
      await Promise.all([...connections.values()].map((one) => one.close()));
    },
  };
}

const namedIn = ({ tools }: StoredMcpServer): NamedTool[] => storedJson(NamedTools, tools, []);

/** What is allowed is this tool as it describes itself now. */
const subjectOf = ({ id }: StoredMcpServer, { name, description, inputSchema }: NamedTool) => ({
  serverId: id,
  tool: name,
  digest: createHash('sha256')
    .update(JSON.stringify([description, inputSchema]))
    .digest('hex'),
});

/** Letters, digits and a few signs: what every family of models writes as a name. */
function callName(server: string, tool: string): string {
  const plain = `${server}_${tool}`.replace(/[^A-Za-z0-9_-]+/g, '_');
  if (plain.length <= MAX_NAME) return plain;
  const digest = createHash('sha256').update(plain).digest('hex').slice(0, 8);
  return `${plain.slice(0, MAX_NAME - 9)}_${digest}`;
}

const MAX_NAME = 64;

function aboutOf(config: NewMcpServer['config']): About {
  if ('command' in config) {
    return { target: [config.command, ...config.args].join(' '), remote: false, secrets: Object.keys(config.env) };
  }
  const { origin, pathname } = new URL(config.url);
  return { target: `${origin}${pathname}`, remote: true, secrets: Object.keys(config.headers) };
}
