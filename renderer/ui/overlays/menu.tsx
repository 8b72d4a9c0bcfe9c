import { DropdownMenu } from 'radix-ui';
import { createContext, type ReactElement, type ReactNode, type RefObject, useContext, useRef } from 'react';
import { Icon } from '../icon.tsx';

const surface = 'z-40 min-w-44 rounded-lg bg-raised p-1.25 shadow-2 data-[state=open]:animate-enter';
const row =
  'flex min-h-row items-center gap-2 rounded-sm px-2.5 outline-none select-none data-[highlighted]:bg-hover data-[disabled]:opacity-45';

type MenuProps = {
  trigger: ReactElement;
  children: ReactNode;
  align?: 'start' | 'end';
  label: string;
  /** In px at the default text size; without it, as wide as its rows. */
  width?: number;
  open?: boolean;
  onOpen?: (open: boolean) => void;
};

/** Runs once the menu is closed and has released the focus. */
const AfterClose = createContext<RefObject<(() => void) | null>>({ current: null });

export function Menu({ trigger, children, align = 'start', label, width, open, onOpen }: MenuProps) {
  const afterClose = useRef<(() => void) | null>(null);
  return (
    <DropdownMenu.Root {...(open !== undefined && { open })} {...(onOpen && { onOpenChange: onOpen })}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          aria-label={label}
          className={`${surface} max-h-(--radix-dropdown-menu-content-available-height) overflow-y-auto`}
          onCloseAutoFocus={(event) => {
            const run = afterClose.current;
            afterClose.current = null;
            if (!run) return;
            event.preventDefault();
            run();
          }}
          {...(width !== undefined && { style: { width: `${width / 16}rem` } })}
        >
          <AfterClose value={afterClose}>{children}</AfterClose>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

type MenuItemProps = {
  onSelect: () => void;
  children: ReactNode;
  /** Why it is disabled. */
  about?: string | undefined;
  keys?: string;
  danger?: boolean;
  disabled?: boolean;
  /** Opens something that takes the focus, which must not return to the menu's button. */
  takesFocus?: boolean;
};

export function MenuItem({
  onSelect,
  children,
  about,
  keys,
  danger = false,
  disabled = false,
  takesFocus = false,
}: MenuItemProps) {
  const afterClose = useContext(AfterClose);
  const select = () => {
    if (takesFocus) afterClose.current = onSelect;
    else onSelect();
  };
  return (
    <DropdownMenu.Item
      onSelect={select}
      disabled={disabled}
      className={`${row} ${about ? 'py-1 data-[disabled]:opacity-100' : ''} ${danger ? 'text-bad-text' : ''}`}
    >
      <span className="flex-1">
        <span className={about && disabled ? 'opacity-45' : ''}>{children}</span>
        {about && <span className="block max-w-60 text-xs text-fg-3">{about}</span>}
      </span>
      {keys && <span className="ms-4 text-2xs text-fg-3 tabular-nums">{keys}</span>}
    </DropdownMenu.Item>
  );
}

type MenuCheckProps = { checked: boolean; onChange: (checked: boolean) => void; children: ReactNode };

export function MenuCheck({ checked, onChange, children }: MenuCheckProps) {
  return (
    <DropdownMenu.CheckboxItem checked={checked} onCheckedChange={onChange} className={row}>
      <span className="flex-1">{children}</span>
      <DropdownMenu.ItemIndicator className="text-ink-text">
        <Icon name="check" size={14} />
      </DropdownMenu.ItemIndicator>
    </DropdownMenu.CheckboxItem>
  );
}

type MenuChoicesProps = { value: string; onChange: (value: string) => void; children: ReactNode };

/** Radio rows: one is selected. */
export const MenuChoices = ({ value, onChange, children }: MenuChoicesProps) => (
  <DropdownMenu.RadioGroup value={value} onValueChange={onChange}>
    {children}
  </DropdownMenu.RadioGroup>
);

/** A row of two lines; `text` is matched by typing. */
export function MenuChoice({ value, text, children }: { value: string; text: string; children: ReactNode }) {
  return (
    <DropdownMenu.RadioItem value={value} textValue={text} className={`${row} py-1.5`}>
      <span className="flex min-w-0 flex-1 flex-col">{children}</span>
      <span className="w-3.5 flex-none text-ink-text">
        <DropdownMenu.ItemIndicator>
          <Icon name="check" size={14} />
        </DropdownMenu.ItemIndicator>
      </span>
    </DropdownMenu.RadioItem>
  );
}

export const MenuLine = () => <DropdownMenu.Separator className="-mx-1.25 my-1 h-px bg-line" />;
