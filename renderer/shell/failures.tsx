import { useTranslation } from 'react-i18next';
import { create } from 'zustand';
import { type ErrorCode, type Failure, failureOf, LonghandError } from '../../app/protocol/index.ts';
import { wayOf, whatOf } from '../sentences.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

//  Reports failures that nothing else reported. Pages start most actions without awaiting them; a failure that a page has no
//  place for is shown here, once for each kind.

const MOST = 3;

export const useFailures = create<{ failures: readonly Failure[] }>()(() => ({ failures: [] }));

/** Not reported: the user cancelled, or the status line already says that there is no connection. */
const silent: ReadonlySet<ErrorCode> = new Set(['cancelled', 'core-lost']);

export function tellFailure(error: unknown): void {
  const failure = failureOf(error);
  if (silent.has(failure.code)) return;
  // A bug of the page is also logged.
  if (!(error instanceof LonghandError)) console.error(error);
  useFailures.setState(({ failures }) => ({
    failures: [...failures.filter(({ code }) => code !== failure.code), failure].slice(-MOST),
  }));
}

/** Reports every unhandled rejection until the returned function is called. */
export function listenToFailures(): () => void {
  const rejected = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    tellFailure(event.reason);
  };
  window.addEventListener('unhandledrejection', rejected);
  return () => window.removeEventListener('unhandledrejection', rejected);
}

export function Failures() {
  const { t } = useTranslation();
  const failures = useFailures((state) => state.failures);
  return failures.map((failure) => (
    <div
      key={failure.code}
      role="alert"
      className="flex flex-none items-center gap-2 border-b border-bad-line bg-bad-soft px-5 py-2"
    >
      <Icon name="warning" className="text-bad-text" />
      <span className="min-w-0 flex-1 wrap-anywhere">
        <b className="font-semibold">{whatOf(failure)}.</b> {wayOf(failure)}
      </span>
      <IconButton
        small
        icon="close"
        label={t('close')}
        onClick={() =>
          useFailures.setState((state) => ({ failures: state.failures.filter((other) => other !== failure) }))
        }
      />
    </div>
  ));
}
