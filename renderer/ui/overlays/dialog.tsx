import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';

type DialogProps = {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  width?: number;
  /** The buttons. The suggested or safe one carries `data-suggested` and has focus first. */
  footer: ReactNode;
  children?: ReactNode;
};

export function Dialog({ open, onClose, title, description, width = 480, footer, children }: DialogProps) {
  const content = useRef<HTMLDivElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-30 bg-scrim" />
        <Radix.Content
          ref={content}
          {...(description === undefined && { 'aria-describedby': undefined })}
          onEscapeKeyDown={(event) => event.isComposing && event.preventDefault()}
          onOpenAutoFocus={(event) => {
            const first = content.current?.querySelector<HTMLElement>('[data-suggested]');
            if (!first) return;
            event.preventDefault();
            first.focus();
          }}
          style={{ width: `min(${width / 16}rem, calc(100vw - 2rem))` }}
          className="fixed inset-0 z-30 m-auto flex h-fit max-h-[calc(100vh-2rem)] flex-col overflow-hidden rounded-xl bg-raised shadow-3 outline-none data-[state=open]:animate-enter"
        >
          <div className="px-6 pt-5.5">
            <Radix.Title className="text-lg font-semibold tracking-tight">{title}</Radix.Title>
            {description !== undefined && (
              <Radix.Description className="mt-1 text-fg-2">{description}</Radix.Description>
            )}
          </div>
          <div className="min-h-0 overflow-y-auto px-6 pt-4.5 pb-1">{children}</div>
          <div className="flex items-center gap-2 px-6 pt-4 pb-5">{footer}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
