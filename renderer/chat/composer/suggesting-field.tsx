import { Popover } from 'radix-ui';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { core } from '../../bridge.ts';
import { Field, TextArea } from '../../ui/field.tsx';
import { type Blank, createSuggestions } from './suggestions.ts';

type SuggestingFieldProps = { label: string; blank: Blank; maxLength: number; onChange: (text: string) => void };

/** One line with suggestions of a server below it. Return and pasted lines make it a field for a text, which has none: a list
 *  would take its arrow keys away. */
export function SuggestingField({ label, blank, maxLength, onChange }: SuggestingFieldProps) {
  const { value } = blank;
  const [isText, setIsText] = useState(value.includes('\n'));
  const text = useRef<HTMLTextAreaElement>(null);
  const caret = useRef<number | null>(null);
  // The other field takes over where the first one stopped.
  useLayoutEffect(() => {
    if (!isText || caret.current === null) return;
    text.current?.focus();
    text.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [isText]);

  const addLines = ({ selectionStart, selectionEnd }: HTMLInputElement, lines: string) => {
    const [from, to] = [selectionStart ?? value.length, selectionEnd ?? value.length];
    caret.current = from + lines.length;
    onChange(`${value.slice(0, from)}${lines}${value.slice(to)}`.slice(0, maxLength));
    setIsText(true);
  };
  if (!isText)
    return <Combobox label={label} blank={blank} maxLength={maxLength} onChange={onChange} onLines={addLines} />;
  return (
    <TextArea
      ref={text}
      dir="auto"
      rows={1}
      aria-label={label}
      maxLength={maxLength}
      className="max-h-40"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

type ComboboxProps = SuggestingFieldProps & { onLines: (input: HTMLInputElement, lines: string) => void };

function Combobox({ label, blank, maxLength, onChange, onLines }: ComboboxProps) {
  const { t } = useTranslation();
  const id = useId();
  const [found, setFound] = useState<readonly string[]>([]);
  /** -1: the field itself. */
  const [active, setActive] = useState(-1);
  const [suggestions] = useState(() =>
    createSuggestions({
      ask: (asked, signal) => core.call('mcp.complete', asked, { signal }),
      show(next) {
        setFound(next);
        setActive(-1);
      },
    }),
  );
  useEffect(() => suggestions.leave, [suggestions]);
  const optionId = (index: number) => `${id}-${index}`;
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);

  const choose = (suggestion: string) => {
    onChange(suggestion);
    suggestions.clear();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const chosen = found[active];
    if (event.key === 'Enter') {
      event.preventDefault();
      if (chosen === undefined) onLines(event.currentTarget, '\n');
      else choose(chosen);
    } else if (step !== 0 && found.length > 0) {
      event.preventDefault();
      const places = found.length + 1;
      setActive(((active + 1 + step + places) % places) - 1);
    } else if (step === 1) {
      event.preventDefault();
      suggestions.want(blank, 0);
    }
  };
  const onPaste = (event: ClipboardEvent<HTMLInputElement>) => {
    const pasted = event.clipboardData.getData('text/plain').replace(/\r\n?/g, '\n');
    if (!pasted.includes('\n')) return;
    event.preventDefault();
    onLines(event.currentTarget, pasted);
  };
  const open = found.length > 0;
  return (
    <Popover.Root open={open} onOpenChange={(next) => !next && suggestions.clear()}>
      <Popover.Anchor>
        <Field
          dir="auto"
          role="combobox"
          aria-label={label}
          aria-autocomplete="list"
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          aria-activedescendant={active < 0 ? undefined : optionId(active)}
          autoComplete="off"
          maxLength={maxLength}
          value={blank.value}
          onChange={({ target }) => {
            onChange(target.value);
            suggestions.want({ ...blank, value: target.value });
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={suggestions.clear}
        />
      </Popover.Anchor>
      <Popover.Content
        role="listbox"
        id={id}
        aria-label={t('prompts.suggestions', { name: blank.argument })}
        align="start"
        sideOffset={4}
        collisionPadding={8}
        onOpenAutoFocus={(event) => event.preventDefault()}
        onCloseAutoFocus={(event) => event.preventDefault()}
        onEscapeKeyDown={(event) => event.isComposing && event.preventDefault()}
        className="z-40 max-h-[min(20rem,var(--radix-popover-content-available-height))] w-(--radix-popover-trigger-width) overflow-y-auto rounded-lg bg-raised p-1.25 shadow-2 outline-none"
      >
        {found.map((suggestion, index) => (
          <button
            type="button"
            key={suggestion}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            // The field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onPointerMove={() => setActive(index)}
            onClick={() => choose(suggestion)}
            className="flex min-h-row w-full items-center rounded-sm px-2.5 text-start select-none aria-selected:bg-hover"
          >
            <bdi className="truncate whitespace-pre">{suggestion}</bdi>
          </button>
        ))}
      </Popover.Content>
    </Popover.Root>
  );
}
