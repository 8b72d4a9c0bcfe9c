import type { ClassName } from '../classes.ts';

//  All HTTP routes, and everything else that other programs can reach, listed by hand: anything new that
//  is missing here fails test/attack/server/routes.test.ts, which attacks all of it.

/** Required credentials: an issued key, the ticket or secret of a page, the key of the data folder; `door`
 *  stands for the checks of every request, and `nothing` needs no more than those. */
export type Need = 'key' | 'ticket' | 'secret' | 'folder key' | 'door' | 'nothing';

/** Routes of the page: app/server/web-server.ts. */
export const PAGE_ROUTES: Readonly<Record<string, Need>> = {
  'ALL /*': 'door',
  'POST /enter': 'ticket',
  'POST /ticket': 'folder key',
  'GET /page': 'secret',
  'POST /uploads': 'secret',
  'GET /*': 'nothing',
};

/** Routes of the server for other programs: app/server/api/api-server.ts. */
export const API_ROUTES: Readonly<Record<string, Need>> = {
  'ALL /*': 'door',
  'OPTIONS /*': 'nothing',
  'GET /': 'key',
  'GET /v1/models': 'key',
  'GET /v1/models/:id': 'key',
  'POST /v1/chat/completions': 'key',
  'POST /v1/completions': 'key',
  'POST /v1/embeddings': 'key',
  'POST /v1/rerank': 'key',
  'POST /v1/responses': 'key',
  'GET /v1/responses/:id': 'key',
  'GET /v1/responses/:id/input_items': 'key',
  'DELETE /v1/responses/:id': 'key',
  'POST /v1/messages': 'key',
  'POST /v1/messages/count_tokens': 'key',
  'ALL /v1/*': 'key',
  'GET /api/version': 'key',
  'GET /api/tags': 'key',
  'GET /api/ps': 'key',
  'POST /api/show': 'key',
  'POST /api/chat': 'key',
  'POST /api/generate': 'key',
  'POST /api/embed': 'key',
};

/** Places in the code that open an entrance for other programs, and the class that attacks each. */
export const ENTRANCES: Readonly<Record<string, { opens: readonly string[]; attackedBy: ClassName }>> = {
  'app/server/web-server.ts': { opens: ['createAdaptorServer('], attackedBy: 'server' },
  'app/server/socket.ts': { opens: ['WebSocketServer(', ".on('upgrade'"], attackedBy: 'server' },
  'app/server/api/api-server.ts': { opens: ['createAdaptorServer('], attackedBy: 'api' },
  'main/app-protocol.ts': { opens: ['protocol.handle('], attackedBy: 'shell' },
  'main/ipc.ts': { opens: ["ipcMain.on('connect'", 'ipcMain.handle(channel'], attackedBy: 'shell' },
  'main/index.ts': { opens: [".on('second-instance'", ".on('open-file'"], attackedBy: 'shell' },
};
