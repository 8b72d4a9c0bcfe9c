import { Tooltip as Radix } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';

export function TooltipProvider({ children }: { children: ReactNode }) {
  return (
    <Radix.Provider delayDuration={500} skipDelayDuration={200}>
      {children}
    </Radix.Provider>
  );
}

const closed = new WeakSet<Event>();

/** Whether Esc has closed a tooltip: tooltips appear unrequested, so Esc keeps its usual meaning. */
export const closedTooltip = (event: Event): boolean => closed.has(event);

/** Names what is under the pointer, with its key. Never contains anything that exists nowhere else. */
export function Tooltip({ text, keys, children }: { text: string; keys?: string; children: ReactElement }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={6}
          onEscapeKeyDown={(event) => void closed.add(event)}
          collisionPadding={8}
          className="z-50 flex max-w-80 items-center gap-2 rounded-md bg-raised px-2.5 py-1.5 text-xs text-fg shadow-2"
        >
          {text}
          {keys && <span className="text-fg-3 tabular-nums">{keys}</span>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
