import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileTexts } from '../documents/parse/file-text.ts';
import type { StartParser } from '../documents/parse/fork-parser.ts';
import { isPrivateHost } from '../models/network/private-hosts.ts';
import type { Via } from '../models/network/request-purpose.ts';
import type { Answered } from '../models/network/transport.ts';
import type { Database } from '../store/database/database.ts';
import { temporaryFolder } from '../store/folder/temporary-folders.ts';
import { addPageHost, isPageHost } from '../store/page-hosts.ts';
import type { Page, Pages } from '../tools/built-in/fetch-page.ts';
import { ToolError } from '../tools/tool.ts';

//  Web pages for the fetch tool: requested through the network log and its offline switch, and parsed like any other untrusted
//  file, in a process of its own.

/** Maximum bytes of a page. */
const MAX_PAGE = 8 * 1024 * 1024;
const PAGE_MS = 30_000;

export type WebPages = { forTool: Pages; close(): Promise<void> };

export function createPages({
  db,
  startParser,
  via,
  version,
}: {
  db: Database;
  startParser: StartParser;
  via: Via;
  version: string;
}): WebPages {
  const texts = createFileTexts(startParser);

  async function open(url: URL, outer: AbortSignal): Promise<Page> {
    const signal = AbortSignal.any([outer, AbortSignal.timeout(PAGE_MS)]);
    const network = via({ reason: 'site', about: '' });
    const headers = { 'accept-encoding': 'identity', accept: 'text/html, text/plain, */*;q=0.5' } as const;
    const answer = await network.open(url, { ...headers, 'user-agent': `Longhand/${version}` }, signal, 'public');
    const location = answer.status >= 300 && answer.status < 400 ? answer.header('location') : null;
    const redirect = location === null ? null : URL.parse(location, url.href);
    if (redirect) {
      answer.cancel();
      return { redirect };
    }
    if (answer.status !== 200) {
      answer.cancel();
      throw new ToolError('failed', `${url.host} answered with status ${answer.status}`);
    }
    const bytes = await bodyOf(answer, url);
    network.received?.(url.host, bytes.length);
    return { bytes, contentType: answer.header('content-type') ?? '' };
  }

  return {
    forTool: {
      open,
      async read({ bytes, kind }, signal) {
        const folder = temporaryFolder('copy');
        try {
          const path = join(folder, 'page');
          await writeFile(path, bytes, { mode: 0o600 });
          const source = { path, fileName: 'page', bytes: bytes.length, password: null, ocr: false };
          return (await texts.read(source, kind, signal)).blocks;
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      },
      isPrivate: isPrivateHost,
      consentFor: (host) => ({
        destroys: false,
        host,
        given: (chatId) => isPageHost(db, host, chatId),
        give(chatId, choice) {
          if (choice === 'chat' || choice === 'always') addPageHost(db, host, choice === 'always' ? null : chatId);
        },
      }),
    },
    close: texts.close,
  };
}

async function bodyOf({ body, cancel }: Answered, { host }: URL): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > MAX_PAGE) {
      cancel();
      throw new ToolError('failed', `this page of ${host} is larger than ${MAX_PAGE / 1024 / 1024} MB`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
