import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import type { Find, FoundInText } from './types.ts';

type FindBarProps = { find: Find; found: FoundInText | null; onFind: (find: Find | null) => void };

/** Find in the open document. */
export function FindBar({ find, found, onFind }: FindBarProps) {
  const { t } = useTranslation();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const step = (by: number) => onFind({ ...find, at: find.at + by });
  const none = (found?.count ?? 0) === 0;
  return (
    <search className="flex flex-none items-center gap-0.5 border-b border-line px-4 py-1.5">
      <Field
        ref={field}
        icon="search"
        className="min-w-0 flex-1"
        aria-label={t('documents.findInText')}
        placeholder={t('documents.findInText')}
        value={find.text}
        spellCheck={false}
        onChange={(event) => onFind({ text: event.target.value, at: 0 })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
          if (event.key !== 'Escape') return;
          event.preventDefault();
          event.stopPropagation();
          onFind(null);
        }}
      />
      <span role="status" className="min-w-14 text-center text-xs text-fg-3 tabular-nums">
        {found ? t('find.count', { at: found.at, count: found.count }) : ''}
      </span>
      <IconButton small icon="up" label={t('find.previous')} disabled={none} onClick={() => step(-1)} />
      <IconButton small icon="down" label={t('find.next')} disabled={none} onClick={() => step(1)} />
      <IconButton small icon="close" label={t('close')} onClick={() => onFind(null)} />
    </search>
  );
}
