import type { Engine } from '../../engine/client/engine-client.ts';
import type { ChatId, Handlers, Settings } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { cacheHitShare } from '../../store/runs.ts';
import type { PromptCacheFiles } from '../storage/prompt-cache-files.ts';
import { cacheOf } from './prompt-cache-size.ts';

export type PromptCacheControlOptions = {
  db: Database;
  engine: Pick<Engine, 'ask'>;
  files: PromptCacheFiles;
  settings: () => Settings;
  now: () => number;
};

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** What was read, in memory and on disk: how much of it there is, and what has to go. */
export function createPromptCacheControl({ db, engine, files, settings, now }: PromptCacheControlOptions) {
  /** A model that is in memory follows; one that is loaded later asks for it. */
  async function apply() {
    const { cacheBytes: bytes, cacheDisk: disk } = cacheOf(settings(), files.folder);
    await engine.ask('setPromptCache', { bytes, disk }).catch(() => {}); // it ended, and begins with these
    if (!settings().promptCacheOnDisk) await files.clear();
  }

  /** What cannot be deleted now is when the app starts again. */
  async function forget(chatId: ChatId) {
    if (settings().promptCacheOnDisk) await engine.ask('erasePromptCache', { chatId }).catch(() => {});
    await files.forget(chatId);
  }

  const handlers: Pick<Handlers, 'engine.promptCache' | 'engine.clearPromptCache'> = {
    'engine.promptCache': async () => {
      const [use, diskBytes] = await Promise.all([engine.ask('promptCache', null), files.size()]);
      const hitShare = cacheHitShare(db, now() - WEEK_MS);
      const { bytes = 0, budgetBytes = 0 } = use ?? {};
      return use || diskBytes > 0 ? { bytes, budgetBytes, diskBytes, hitShare } : null;
    },
    'engine.clearPromptCache': async () => {
      await engine.ask('clearPromptCache', null);
      await files.clear();
    },
  };

  return {
    handlers,
    forget: (chatId: ChatId) => void forget(chatId),
    settingsChanged(patch: { [Key in keyof Settings]?: Settings[Key] | undefined }) {
      const keys = ['promptCacheMB', 'promptCacheOnDisk', 'promptCacheDiskMB'] as const;
      if (keys.some((key) => patch[key] !== undefined)) void apply();
    },
  };
}
