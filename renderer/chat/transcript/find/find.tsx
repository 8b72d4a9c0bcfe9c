import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { showMessage } from '../../../commands/show-message.ts';
import { focusComposer } from '../../../lib/focus.ts';
import { actions, useChat } from '../../../stores/chat/store.ts';
import { visibleBranch } from '../../../stores/chat/visible-branch.ts';
import { IconButton } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { unpaint } from '../../../ui/highlight/css-highlight.ts';
import { findMatches, markMatches } from './find-matches.ts';

/** Find in this chat: marks every match and scrolls the current one into view. */
export function Find() {
  const { t } = useTranslation();
  const open = useChat((state) => state.open);
  const { setOverlay } = actions;
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the branch follows the open chat
  const branch = useMemo(() => visibleBranch(useChat.getState()), [open]);
  const matches = useMemo(() => findMatches(branch, query), [branch, query]);
  const index = Math.min(at, matches.length - 1);
  const current = matches[index] ?? null;
  const place = index + 1;
  const step = (by: 1 | -1) => setAt((index + by + matches.length) % Math.max(1, matches.length));

  useEffect(() => field.current?.focus(), []);
  const latest = useRef(current);
  latest.current = current;
  const found = current !== null;
  // A step by the user, or another word, scrolls to the match.
  // biome-ignore lint/correctness/useExhaustiveDependencies: matches that come while an answer is written move nothing
  useEffect(() => {
    if (!latest.current) return unpaint();
    showMessage(latest.current.messageId);
    return markWhenDrawn(() => latest.current && markMatches(query, latest.current, true));
  }, [at, query, found]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is written meanwhile is marked where it stands
  useEffect(
    () => markWhenDrawn(() => latest.current && markMatches(query, latest.current, false), REPAINT_MS),
    [branch, query],
  );
  useEffect(() => unpaint, []);

  const close = () => {
    setOverlay({ kind: 'none' });
    focusComposer();
  };
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
          if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
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
      <IconButton small icon="up" label={t('find.previous')} disabled={matches.length === 0} onClick={() => step(-1)} />
      <IconButton small icon="down" label={t('find.next')} disabled={matches.length === 0} onClick={() => step(1)} />
      <IconButton small icon="close" label={t('close')} onClick={close} />
    </search>
  );
}

const DRAW_MS = 60;
const REPAINT_MS = 200;

function markWhenDrawn(mark: () => void, wait = DRAW_MS): () => void {
  const timer = setTimeout(mark, wait);
  return () => clearTimeout(timer);
}
