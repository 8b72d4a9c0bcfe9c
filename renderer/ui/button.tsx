import { type ComponentProps, forwardRef } from 'react';
import { Icon, type IconName } from './icon.tsx';
import { Tooltip } from './tooltip.tsx';

export type ButtonKind = 'primary' | 'default' | 'quiet' | 'danger' | 'destroy' | 'link';

const kinds: Record<ButtonKind, string> = {
  primary: 'bg-ink text-on-ink enabled:hover:bg-ink-hover enabled:active:bg-ink-press',
  default: 'bg-raised text-fg hairline enabled:hover:bg-hover enabled:active:bg-select',
  quiet: 'text-fg-2 enabled:hover:bg-hover enabled:hover:text-fg enabled:active:bg-select',
  danger: 'bg-raised text-bad-text hairline enabled:hover:bg-bad-soft',
  destroy: 'bg-bad text-on-ink enabled:hover:bg-bad-hover',
  link: 'text-ink-text enabled:hover:bg-hover',
};

type ButtonProps = ComponentProps<'button'> & { kind?: ButtonKind; large?: boolean; icon?: IconName };

export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { kind = 'default', large = false, icon, className = '', children, ...rest },
  ref,
) {
  const slim = kind === 'quiet' || kind === 'link';
  const size = large ? 'h-control-lg px-3.5 rounded-[7px]' : `h-control rounded-sm ${slim ? 'px-2' : 'px-2.5'}`;
  return (
    <button
      ref={ref}
      type="button"
      className={`inline-flex flex-none items-center justify-center gap-1.5 font-medium whitespace-nowrap transition-colors duration-(--duration-fast) disabled:opacity-45 ${size} ${kinds[kind]} ${className}`}
      {...rest}
    >
      {icon && <Icon name={icon} size={14} className={kind === 'quiet' ? 'text-fg-3' : ''} />}
      {children}
    </button>
  );
});

type IconButtonProps = Omit<ComponentProps<'button'>, 'children'> & {
  icon: IconName;
  label: string;
  keys?: string;
  small?: boolean;
  on?: boolean;
};

/** An icon alone: 28 px, 24 inside a bar of icons. Its name is read out and shown after half a second. */
export const IconButton = forwardRef<HTMLButtonElement, IconButtonProps>(function IconButton(
  { icon, label, keys, small = false, on = false, className = '', ...rest },
  ref,
) {
  return (
    <Tooltip text={label} {...(keys && { keys })}>
      <button
        ref={ref}
        type="button"
        aria-label={label}
        className={`inline-grid flex-none place-items-center rounded-sm transition-colors duration-(--duration-fast) enabled:hover:bg-hover enabled:hover:text-fg-2 disabled:opacity-45 data-[state=open]:bg-select data-[state=open]:text-fg ${small ? 'size-6' : 'size-hit'} ${on ? 'bg-select text-fg' : 'text-fg-3'} ${className}`}
        {...rest}
      >
        <Icon name={icon} size={small ? 14 : 16} />
      </button>
    </Tooltip>
  );
});
