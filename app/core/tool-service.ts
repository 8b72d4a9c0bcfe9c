import type { StartParser } from '../documents/parse/fork-parser.ts';
import type { GenerationService } from '../engine/client/generation-service.ts';
import { isLoopback } from '../engine/remote/address.ts';
import type { Network } from '../models/network/http-request.ts';
import type { RequestPurpose } from '../models/network/request-purpose.ts';
import type { ModelRegistry } from '../models/registry/model-registry.ts';
import type { Emit, Handlers, Report } from '../protocol/index.ts';
import type { Database } from '../store/database/database.ts';
import { newId } from '../store/database/uuid.ts';
import { listPageHosts, removePageHost } from '../store/page-hosts.ts';
import { callFormatOf } from '../text/tool-calls/call-formats.ts';
import { calculator } from '../tools/built-in/calculator.ts';
import { clock } from '../tools/built-in/clock.ts';
import { type DocumentsAsked, readDocument, searchDocuments } from '../tools/built-in/documents.ts';
import { fetchPage } from '../tools/built-in/fetch-page.ts';
import { createMcpServers, type McpServersOptions } from '../tools/mcp/servers.ts';
import { javascript } from '../tools/sandbox/javascript.ts';
import { createToolbox, type Toolbox } from '../tools/toolbox.ts';
import { createPages } from './web-pages.ts';

//  The tools of this core, and the requests of the page about them.

export type ToolService = {
  toolbox: Toolbox;
  handlers: Pick<Handlers, Extract<keyof Handlers, `tools.${string}`> | Extract<keyof Handlers, `mcp.${string}`>>;
  close(): Promise<void>;
};

export type ToolServiceOptions = {
  db: Database;
  engine: GenerationService;
  emit: Emit;
  models: Pick<ModelRegistry, 'target'>;
  documents: DocumentsAsked;
  /** Entry file of the worker that runs JavaScript; null: there is no such tool. */
  sandbox: string | null;
  /** Starts the parser for web pages. */
  startParser: StartParser;
  cipher: McpServersOptions['cipher'];
  /** Every request to another computer goes through this. */
  via: (why: RequestPurpose) => Network;
  version: string;
  now: () => number;
  report: Report;
};

export function createToolService(options: ToolServiceOptions): ToolService {
  const { db, engine, emit, models, documents, sandbox, startParser, cipher, via, version, now, report } = options;
  const pages = createPages({ db, startParser, via, version });
  const builtIn = [
    calculator,
    clock(now),
    ...(sandbox === null ? [] : [javascript(sandbox)]),
    searchDocuments(db, documents),
    readDocument(db, documents),
    fetchPage(pages.forTool),
  ];
  const servers = createMcpServers({
    db,
    cipher,
    version,
    fetchFor: (name) => (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      return isLoopback(url.hostname) ? fetch(input, init) : via({ reason: 'tool', about: name }).fetch(input, init);
    },
    changed: (list) => emit('mcp.changed', list),
    newId: () => newId(now()),
    now,
    report,
  });
  const toolbox = createToolbox(() => [...builtIn, ...servers.tools()]);
  return {
    toolbox,
    handlers: {
      async 'tools.list'({ modelId }) {
        const { path, template, remote } = models.target(modelId).target;
        // A remote engine reports missing tool support when it is asked.
        const able = remote !== undefined || callFormatOf(await engine.ask('template', { path, template })) !== null;
        return { able, tools: toolbox.entries() };
      },
      'tools.pageHosts': () => listPageHosts(db),
      'tools.forgetPageHost': ({ host }) => void removePageHost(db, host),
      ...servers.handlers,
    },
    async close() {
      await Promise.all([servers.close(), pages.close()]);
    },
  };
}
