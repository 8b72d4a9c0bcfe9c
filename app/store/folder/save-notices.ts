import { failureOf, type Notice, type Report } from '../../protocol/index.ts';

/** Notifies the user when saving fails, and when it works again. */
export type Saving = {
  /** `holder` keeps the unsaved data and retries; without one the work is lost. */
  failed(error: unknown, holder?: object): void;
  /** Saving succeeded; with `holder`: all its data. */
  worked(holder?: object): void;
  /** For work without a caller. */
  report: Report;
};

export function createSaving(notice: (notice: Notice) => void): Saving {
  const holders = new Set<object>();
  let told: Notice['code'] | null = null;

  function failed(error: unknown, holder?: object) {
    const { code, message } = failureOf(error);
    if (holder) holders.add(holder);
    console.error(`[background] ${message}`);
    const next = code === 'disk-full' ? 'disk-full' : 'not-saved';
    if (told === next) return;
    told = next;
    notice({ code: next, details: { reason: message } });
  }

  return {
    failed,
    worked(holder) {
      if (holder) holders.delete(holder);
      if (told === null || holders.size > 0) return;
      told = null;
      notice({ code: 'saved-again', details: {} });
    },
    report: (error) => failed(error),
  };
}
