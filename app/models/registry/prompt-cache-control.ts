import type { Engine } from '../../engine/client/engine-client.ts';
import type { ChatId, Handlers, Settings } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { cacheHitShare } from '../../store/runs.ts';
import type { PromptCacheFiles } from '../storage/prompt-cache-files.ts';
import type { PromptCacheKey } from '../storage/prompt-cache-key.ts';
import { cacheOf, type PromptCacheDisk } from './prompt-cache-size.ts';

export type PromptCacheControlOptions = {
  db: Database;
  engine: Pick<Engine, 'ask'>;
  files: PromptCacheFiles;
  key: PromptCacheKey;
  settings: () => Settings;
  now: () => number;
};

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** Controls the prompt cache in memory and on disk: size, limits, deletion. */
export function createPromptCacheControl({ db, engine, files, key, settings, now }: PromptCacheControlOptions) {
  const disk = (): PromptCacheDisk => {
    const opened = key.current();
    return opened && { folder: files.folder, ...opened };
  };

  /** Applies new limits to the loaded model; a model loaded later gets them in its target. */
  async function apply() {
    const { cacheBytes, cacheDisk } = cacheOf(settings(), disk());
    // If the engine ended, its next start uses the new limits.
    await engine.ask('setPromptCache', { bytes: cacheBytes, disk: cacheDisk }).catch(() => {});
  }

  /** Until the keychain answers, prompts stay in memory. */
  async function openKey() {
    if (!settings().promptCacheOnDisk || key.current()) return;
    await key.open();
    if (key.current()) await apply();
  }

  async function settingsChanged() {
    await apply();
    if (settings().promptCacheOnDisk) return openKey();
    key.forget();
    await files.clear();
  }

  /** If deletion fails now, it happens at the next start. */
  async function forget(chatId: ChatId) {
    if (settings().promptCacheOnDisk) await engine.ask('erasePromptCache', { chatId }).catch(() => {});
    await files.forget(chatId);
  }

  const handlers: Pick<Handlers, 'engine.promptCache' | 'engine.clearPromptCache'> = {
    'engine.promptCache': async () => {
      const onDisk = settings().promptCacheOnDisk ? await key.open() : null;
      const [use, diskBytes] = await Promise.all([engine.ask('promptCache', null), files.size()]);
      const hitShare = cacheHitShare(db, now() - WEEK_MS);
      const { bytes = 0, budgetBytes = 0 } = use ?? {};
      return use || onDisk || diskBytes > 0 ? { bytes, budgetBytes, diskBytes, onDisk, hitShare } : null;
    },
    'engine.clearPromptCache': async () => {
      await engine.ask('clearPromptCache', null);
      key.forget();
      await apply();
      await files.clear();
      void openKey();
    },
  };

  void openKey();
  return {
    handlers,
    disk,
    forget: (chatId: ChatId) => void forget(chatId),
    settingsChanged(patch: { [Key in keyof Settings]?: Settings[Key] | undefined }) {
      const keys = ['promptCacheMB', 'promptCacheOnDisk', 'promptCacheDiskMB'] as const;
      if (keys.some((key) => patch[key] !== undefined)) void settingsChanged();
    },
  };
}
