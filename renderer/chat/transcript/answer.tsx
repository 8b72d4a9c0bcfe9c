import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { type Message, type MessageId, quoteStandsAlone } from '../../../app/protocol/index.ts';
import { asksForPassages } from '../../stores/chat/reducers.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { GroundingLine } from '../sources/grounding-line.tsx';
import { NotFound } from '../sources/not-found.tsx';
import { PassagesNotice } from '../sources/passages-notice.tsx';
import { QuoteCard } from '../sources/quote-card.tsx';
import { StatsLine } from '../stats/stats-line.tsx';
import { AnswerText } from './answer-text.tsx';
import { Editor } from './editor.tsx';
import { FailureNotice } from './failures/failure-notice.tsx';
import { LoopLine } from './loops/loop-card.tsx';
import { decidedLoops } from './loops/loop-evidence.ts';
import { Paused } from './loops/paused.tsx';
import { PrefillProgress } from './prefill-progress.tsx';
import { SimilarLine } from './similar-line.tsx';
import { Thinking } from './thinking.tsx';

type AnswerProps = { message: Message; versions: readonly MessageId[]; last: boolean };

/** Thinking, text, errors, and one line of figures. */
export const Answer = memo(function Answer({ message, versions, last }: AnswerProps) {
  const { t } = useTranslation();
  const live = useChat((state) => state.live.get(message.id) ?? null);
  const editing = useChat((state) => state.editing === message.id);
  const { rewrite } = actions;
  const alone = quoteStandsAlone(message);
  const writing = message.state.status === 'running';
  return (
    <div aria-busy={writing}>
      {writing && live?.reading && <PrefillProgress reading={live.reading} />}
      {message.thinking !== '' && <Thinking message={message} live={live} />}
      {editing ? (
        <Editor
          text={message.text}
          label={t('message.editAnswer')}
          save={t('message.save')}
          onSave={(text) => rewrite(message.id, text)}
        />
      ) : message.grounding?.found === false ? (
        <NotFound message={message} />
      ) : alone ? (
        <p className="text-fg-2">{t(alone === 'quoted' ? 'sources.wordForWord' : 'sources.quoteOnly')}</p>
      ) : (
        <AnswerText message={message} live={live} />
      )}
      <QuoteCard message={message} last={last} />
      <GroundingLine message={message} />
      {decidedLoops(message).map((evidence) => (
        <LoopLine key={`${evidence.startToken} ${evidence.times}`} evidence={evidence} />
      ))}
      {writing && live?.similar && <SimilarLine similar={live.similar} />}
      {message.state.status === 'paused' && <Paused message={message} live={live} />}
      {message.state.status === 'failed' &&
        (asksForPassages(message) ? (
          <PassagesNotice message={message} failure={message.state.failure} />
        ) : (
          <FailureNotice message={message} failure={message.state.failure} />
        ))}
      <StatsLine message={message} versions={versions} last={last} />
    </div>
  );
});
