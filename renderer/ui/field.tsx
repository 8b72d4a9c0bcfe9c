import { type ComponentProps, forwardRef, type ReactNode, useEffect, useId, useState } from 'react';
import { Icon, type IconName } from './icon.tsx';
import { isComposing } from './ime.ts';

type FieldProps = Omit<ComponentProps<'input'>, 'size'> & { icon?: IconName; large?: boolean; problem?: string | null };

export const Field = forwardRef<HTMLInputElement, FieldProps>(function Field(
  { icon, large = false, problem, className = '', onKeyDown, ...rest },
  ref,
) {
  const id = useId();
  return (
    <span className={`flex flex-col ${className}`}>
      <span
        className={`flex items-center gap-2 rounded-sm bg-raised px-2.25 hairline focus-within:hairline-focus ${large ? 'h-control-lg' : 'h-control'} ${problem ? 'shadow-[inset_0_0_0_1.5px_var(--color-bad-text)]' : ''}`}
      >
        {icon && <Icon name={icon} size={14} className="text-fg-3" />}
        <input
          ref={ref}
          className="min-w-0 flex-1 bg-transparent focus-visible:outline-none"
          aria-invalid={problem ? true : undefined}
          aria-describedby={problem ? id : undefined}
          onKeyDown={(event) => !isComposing(event) && onKeyDown?.(event)}
          {...rest}
        />
      </span>
      {problem && (
        <span id={id} className="mt-1 text-xs text-bad-text">
          {problem}
        </span>
      )}
    </span>
  );
});

type TextAreaProps = ComponentProps<'textarea'>;

export const TextArea = forwardRef<HTMLTextAreaElement, TextAreaProps>(function TextArea(
  { className = '', ...rest },
  ref,
) {
  return (
    <textarea
      ref={ref}
      className={`block w-full resize-none rounded-sm bg-raised px-2.25 py-1.5 hairline field-sizing-content focus:hairline-focus focus-visible:outline-none ${className}`}
      {...rest}
    />
  );
});

type NumberFieldProps = {
  label: string;
  value: number | undefined;
  min: number;
  max: number;
  step: number;
  placeholder: string;
  problem: string;
  onChange: (value: number | undefined) => void;
};

/** A number or nothing. Invalid input stays in the field; only a number within the limits is passed on. */
export function NumberField({ label, value, min, max, step, placeholder, problem, onChange }: NumberFieldProps) {
  const [text, setText] = useState(value === undefined ? '' : String(value));
  const parsed = parseNumber(text, min, max, step);
  useEffect(() => {
    setText((current) =>
      parseNumber(current, min, max, step) === value ? current : value === undefined ? '' : String(value),
    );
  }, [value, min, max, step]);
  return (
    <Field
      aria-label={label}
      inputMode="decimal"
      className="w-36 tabular-nums"
      placeholder={placeholder}
      value={text}
      problem={parsed === null ? problem : null}
      onChange={(event) => {
        setText(event.target.value);
        const next = parseNumber(event.target.value, min, max, step);
        if (next !== null) onChange(next);
      }}
    />
  );
}

/** undefined: empty. null: not a number within the limits. */
export function parseNumber(text: string, min: number, max: number, step: number): number | undefined | null {
  const plain = text.trim().replace(',', '.');
  if (plain === '') return undefined;
  const value = Number(plain);
  if (!Number.isFinite(value) || value < min || value > max) return null;
  return step >= 1 && !Number.isInteger(value) ? null : value;
}

/** One row of a settings card: name, description, and the control at the end. */
export function SettingRow({ name, about, children }: { name: string; about?: ReactNode; children?: ReactNode }) {
  return (
    <div className="flex min-h-12 items-center gap-6 px-4 py-3 not-first:border-t not-first:border-line">
      <div className="min-w-0 flex-1">
        <div className="font-medium">{name}</div>
        {about && <div className="mt-0.5 text-xs text-fg-3">{about}</div>}
      </div>
      {children}
    </div>
  );
}

export const Card = ({ children, className = '' }: { children: ReactNode; className?: string }) => (
  <div className={`rounded-lg bg-card shadow-1 ${className}`}>{children}</div>
);
