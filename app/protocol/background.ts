/** Receives errors that have no caller. Must not throw. */
export type Report = (error: unknown) => void;

/** Wraps `work` for a timer, a stream or an event: an exception there has no caller and would end the
 *  process, so it is reported instead. */
export const guarded =
  <Args extends unknown[]>(report: Report, work: (...args: Args) => unknown) =>
  (...args: Args): void => {
    try {
      const result = work(...args);
      if (result instanceof Promise) result.catch(report);
    } catch (error) {
      report(error);
    }
  };
