import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ChatId } from '../../protocol/index.ts';
import { chatIsOpen } from '../../store/chats/chats.ts';
import type { Database } from '../../store/database/database.ts';

//  prompts/<build>/<model>/<chat>/…   the prompt cache of a chat (native/engine/prompt_cache/disk_tier.h)
//
//  Written by the engine, deleted here even while no model is loaded. Expendable: without it a prompt is
//  prefilled again.

/** The prompt cache on disk. */
export type PromptCacheFiles = {
  readonly folder: string;
  size(): Promise<number>;
  clear(): Promise<void>;
  forget(chatId: ChatId): Promise<void>;
  /** Deletes the caches of deleted chats. */
  sweep(): Promise<void>;
};

export function createPromptCacheFiles(db: Database, folder: string): PromptCacheFiles {
  const inside = async (path: string): Promise<string[]> =>
    (await readdir(path).catch((): string[] => [])).map((name) => join(path, name));
  const below = async (paths: readonly string[]) => (await Promise.all(paths.map(inside))).flat();
  const chats = async () => below(await below(await inside(folder)));
  const discard = (path: string) => rm(path, { recursive: true, force: true }).catch(() => {});

  return {
    folder,
    async size() {
      const sizes = (await below(await chats())).map(async (path) => (await stat(path).catch(() => null))?.size ?? 0);
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    },
    async clear() {
      await discard(folder);
    },
    async forget(chatId) {
      await Promise.all((await chats()).filter((path) => basename(path) === chatId).map(discard));
    },
    async sweep() {
      for (const path of await chats()) if (!chatIsOpen(db, basename(path) as ChatId)) await discard(path);
    },
  };
}
