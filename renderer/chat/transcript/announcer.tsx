import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Message, quotedIn, quoteStandsAlone } from '../../../app/protocol/index.ts';
import { quotingIn } from '../../commands/export.ts';
import type { ChatData } from '../../stores/chat/reducers.ts';
import { useChat } from '../../stores/chat/store.ts';
import { useSettings } from '../../stores/settings.ts';
import { spoken, wholeSentences } from './speech.ts';

const PACE_MS = 2000;

/** The message at the end of the branch on screen, when it is an answer. */
function shownAnswer({ open }: ChatData): Message | null {
  const leaf = open?.chat.leafId;
  const last = leaf ? open.messages.get(leaf) : undefined;
  return last?.role === 'assistant' ? last : null;
}

/** Announcements for screen readers: whole sentences, at most one every two seconds, merged when late. The log itself is
 *  not announced. */
export function Announcer() {
  const { t } = useTranslation();
  const mode = useSettings((state) => state.values.screenReader);
  const answer = useChat(shownAnswer);
  const running = answer?.state.status === 'running';
  const [words, setWords] = useState('');
  const told = useRef<{ id: string | null; until: number; thinking: boolean }>({ id: null, until: 0, thinking: false });
  const latest = useRef(answer);
  latest.current = answer;

  useEffect(() => {
    if (!running || mode === 'off' || !latest.current) return;
    told.current = { id: latest.current.id, until: latest.current.text.length, thinking: false };
    const timer = setInterval(() => {
      const message = latest.current;
      if (!message) return;
      if (message.thinking !== '' && !told.current.thinking && message.text === '') {
        told.current.thinking = true;
        setWords(t('speech.thinking'));
        return;
      }
      if (mode !== 'sentences') return;
      const until = wholeSentences(message.text, told.current.until);
      if (until > told.current.until) setWords(spoken(message.text.slice(told.current.until, until), t));
      told.current.until = until;
    }, PACE_MS);
    return () => clearInterval(timer);
  }, [running, mode, t]);

  useEffect(() => {
    if (running || mode === 'off' || !answer || told.current.id !== answer.id) return;
    const alone = quoteStandsAlone(answer);
    const text = alone ? t(alone === 'quoted' ? 'sources.wordForWord' : 'sources.quoteOnly') : answer.text;
    const rest = text.slice(mode === 'whole' ? 0 : told.current.until);
    told.current.id = null;
    const quoted = quotedIn(answer.grounding);
    const quote = quoted && quotingIn(t)({ ...quoted, name: quoted.source.name });
    setWords([spoken(rest, t), t('speech.end'), quote].filter(Boolean).join(' '));
  }, [running, mode, answer, t]);

  return (
    <div role="status" aria-live="polite" aria-label={t('speech.label')} className="sr-only">
      {words}
    </div>
  );
}
