import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

type NoticeProps = { tone: 'bad' | 'warn'; title: string; children?: ReactNode; actions?: ReactNode; alert?: boolean };

const looks = {
  bad: { box: 'bg-bad-soft shadow-[inset_0_0_0_1px_var(--color-bad-line)]', icon: 'text-bad-text' },
  warn: { box: 'bg-warn-soft shadow-[inset_0_0_0_1px_var(--color-warn-line)]', icon: 'text-warn-text' },
} as const;

/** What happened, what is safe, what to do: inline, never covering anything. */
export function Notice({ tone, title, children, actions, alert = false }: NoticeProps) {
  return (
    <div
      {...(alert && { role: 'alert' })}
      className={`flex items-start gap-3 rounded-lg px-3.5 py-3 ${looks[tone].box}`}
    >
      <Icon name="warning" className={`mt-px ${looks[tone].icon}`} />
      <div className="min-w-0 flex-1">
        <div className="font-semibold">{title}</div>
        {children && <div className="mt-0.5 text-fg-2 wrap-anywhere">{children}</div>}
        {actions && <div className="mt-3 flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
    </div>
  );
}
