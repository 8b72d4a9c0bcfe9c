import { Popover as Radix } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';
import { restoreFocus } from './restore-focus.ts';

type PopoverProps = {
  trigger: ReactElement;
  label: string;
  width: number;
  children: ReactNode;
  align?: 'start' | 'end';
  open?: boolean;
  onOpen?: (open: boolean) => void;
};

/** A small panel beside its trigger. Takes the focus; Esc and a click outside return it. */
export function Popover({ trigger, label, width, children, align = 'start', open, onOpen }: PopoverProps) {
  return (
    <Radix.Root {...(open !== undefined && { open })} {...(onOpen && { onOpenChange: onOpen })}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={6}
          collisionPadding={8}
          aria-label={label}
          onCloseAutoFocus={restoreFocus}
          style={{ width: `${width / 16}rem` }}
          className="z-40 flex max-h-(--radix-popover-content-available-height) flex-col overflow-y-auto rounded-lg bg-raised p-1.25 shadow-2 outline-none data-[state=open]:animate-enter"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export const PopoverLine = () => <div className="-mx-1.25 my-1 h-px flex-none bg-line" />;
