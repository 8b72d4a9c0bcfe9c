import { failureOf, type Notice, type Report } from '../../protocol/index.ts';

/** Tells the user when something could not be saved, and when saving works again. */
export type Saving = {
  /** `holder` keeps what could not be written and tries again; without one the work itself is lost. */
  failed(error: unknown, holder?: object): void;
  /** Something was written; with `holder`: all that it kept. */
  worked(holder?: object): void;
  /** For work that nobody waits for. */
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
