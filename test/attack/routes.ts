import type { ClassName } from './classes.ts';

//  Every address that is answered over HTTP, and everything else that other programs can reach, written down by hand: what is new and
//  does not stand here fails test/attack/routes.test.ts, which attacks all of it.

/** What lets somebody in: a key that was given out, the ticket or the secret of a page, the key of the data folder; at `door`
 *  stand the questions that every request is asked, and `nothing` is open to whoever they let through. */
export type Need = 'key' | 'ticket' | 'secret' | 'folder key' | 'door' | 'nothing';

/** Of the page: app/server/web-server.ts. */
export const PAGE_ROUTES: Readonly<Record<string, Need>> = {
  'ALL /*': 'door',
  'POST /enter': 'ticket',
  'POST /ticket': 'folder key',
  'GET /page': 'secret',
  'POST /uploads': 'secret',
  'GET /*': 'nothing',
};

/** Of the server for other programs: app/server/api/api-server.ts. */
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

/** Where something is opened to other programs, in the words of the code, and who attacks it. */
export const ENTRANCES: Readonly<Record<string, { opens: readonly string[]; attackedBy: ClassName }>> = {
  'app/server/web-server.ts': { opens: ['createAdaptorServer('], attackedBy: 'server' },
  'app/server/socket.ts': { opens: ['WebSocketServer(', ".on('upgrade'"], attackedBy: 'server' },
  'app/server/api/api-server.ts': { opens: ['createAdaptorServer('], attackedBy: 'api' },
  'main/app-protocol.ts': { opens: ['protocol.handle('], attackedBy: 'shell' },
  'main/ipc.ts': { opens: ["ipcMain.on('connect'", 'ipcMain.handle(channel'], attackedBy: 'shell' },
  'main/index.ts': { opens: [".on('second-instance'", ".on('open-file'"], attackedBy: 'shell' },
};
