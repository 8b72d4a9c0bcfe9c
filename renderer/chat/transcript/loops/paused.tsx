import { useTranslation } from 'react-i18next';
import type { Message, PauseAction } from '../../../../app/protocol/index.ts';
import { useFormats } from '../../../i18n.ts';
import type { TurnProgress } from '../../../stores/chat/reducers.ts';
import { useChat } from '../../../stores/chat/store.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { LoopCard } from './loop-card.tsx';

const afterReload: PauseAction[] = ['answer-now', 'keep-going', 'stop'];

/** A turn waiting for the user. Writing is paused; nothing is lost. */
export function Paused({ message, live }: { message: Message; live: TurnProgress | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const decide = useChat((state) => state.decide);
  if (message.state.status !== 'paused') return null;
  const { turnId, evidence, thought } = message.state;
  if (evidence) {
    const card = (
      <LoopCard key={evidence.times} messageId={message.id} turnId={turnId} evidence={evidence} live={live} />
    );
    // A loop in thinking is still thinking: its line continues beside the card.
    if (evidence.where === 'answer') return card;
    return <div className="ms-1.75 border-s-2 border-pencil-line pt-3 pb-2.5 ps-4">{card}</div>;
  }
  const choices = live?.pause?.choices ?? afterReload;
  const suggested = live?.pause?.suggested ?? choices[0];
  return (
    <div className="mt-3.5">
      <Notice
        alert
        tone="warn"
        title={
          thought === undefined ? t('pause.title') : t('pause.long', { count: thought, tokens: formats.exact(thought) })
        }
        actions={choices.map((choice) => (
          <Button
            key={choice}
            kind={choice === suggested ? 'primary' : 'default'}
            onClick={() => void decide(turnId, choice)}
          >
            {choice === 'keep-going' && thought !== undefined ? t('pause.longer') : t(`pause.choice.${choice}`)}
          </Button>
        ))}
      >
        {thought === undefined ? t('pause.safe') : t('pause.longAbout')}
      </Notice>
    </div>
  );
}
