import type { Chat, RequestInput } from '../../../app/protocol/index.ts';

const PAGE = 500;

/** All chats page by page, newest first; the first page also contains the pinned ones. Chats with equal times at a page
 *  boundary are in both pages. */
export async function* chatPages(
  list: (page: RequestInput<'chats.list'>) => Promise<Chat[]>,
): AsyncGenerator<Chat[], undefined> {
  const known = new Set<string>();
  for (let before: number | undefined; ; ) {
    const page = await list({ limit: PAGE, ...(before !== undefined && { before }) });
    const had = known.size;
    for (const { id } of page) known.add(id);
    yield page;
    const last = page.slice(0, PAGE).at(-1);
    if (!last || page.length < PAGE || known.size === had) return;
    before = last.updatedAt + 1;
  }
}
