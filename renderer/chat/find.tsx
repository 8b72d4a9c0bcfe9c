import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { MessageId } from '../../app/protocol/index.ts';
import { IconButton } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { unpaint } from '../ui/paint.ts';
import { findMatches, markMatches } from './find-matches.ts';
import { focusComposer } from './focus.ts';
import { showMessage } from './show-message.ts';
import { shownBranch } from './shown.ts';
import { actions, useChat } from './store.ts';

/** Find in this chat: every place is marked, the current one is brought into view. */
export function Find() {
  const { t } = useTranslation();
  const open = useChat((state) => state.open);
  const { setOverlay } = actions;
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the branch follows the open chat
  const branch = useMemo(() => shownBranch(useChat.getState()), [open]);
  const matches = useMemo(() => findMatches(branch, query), [branch, query]);
  const current =
    matches.length === 0 ? null : (matches[((at % matches.length) + matches.length) % matches.length] ?? null);

  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (!current) {
      unpaint();
      return;
    }
    showMessage(current.messageId);
    return markWhenDrawn(query, current.messageId, current.nth);
  }, [current, query]);
  useEffect(() => unpaint, []);

  const close = () => {
    setOverlay({ at: 'none' });
    focusComposer();
  };
  const place = matches.length === 0 ? 0 : (((at % matches.length) + matches.length) % matches.length) + 1;
  return (
    <search className="no-drag flex items-center gap-0.5">
      <Field
        ref={field}
        icon="search"
        className="w-56"
        aria-label={t('find.label')}
        placeholder={t('find.label')}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') setAt(at + (event.shiftKey ? -1 : 1));
          if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            close();
          }
        }}
      />
      <span role="status" className="min-w-14 text-center text-xs text-fg-3 tabular-nums">
        {query === '' ? '' : t('find.count', { at: place, count: matches.length })}
      </span>
      <IconButton
        small
        icon="up"
        label={t('find.previous')}
        disabled={matches.length === 0}
        onClick={() => setAt(at - 1)}
      />
      <IconButton
        small
        icon="down"
        label={t('find.next')}
        disabled={matches.length === 0}
        onClick={() => setAt(at + 1)}
      />
      <IconButton small icon="close" label={t('close')} onClick={close} />
    </search>
  );
}

const DRAW_MS = 60;

function markWhenDrawn(query: string, messageId: MessageId, nth: number): () => void {
  const timer = setTimeout(() => markMatches(query, messageId, nth), DRAW_MS);
  return () => clearTimeout(timer);
}
