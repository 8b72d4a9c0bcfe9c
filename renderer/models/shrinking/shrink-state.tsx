import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isWeaker, type Shrinking, verdictOf } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Details } from '../../parts/problem.tsx';
import { sentenceOf } from '../../sentences.ts';
import { chatWith } from '../../stores/models/chat-with.ts';
import { useModels } from '../../stores/models/store.ts';
import { Button } from '../../ui/button.tsx';
import { Tag } from '../../ui/choice.tsx';
import { MISSING } from '../../ui/format.ts';
import { Progress } from '../../ui/meter.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TrialDialog } from '../trial/dialog.tsx';
import { toneOf } from './verdict-tone.ts';

const putAway = () => void core.call('models.cancelShrink');

/** The smaller version that is being made, or how it ended, until that is put away. */
export function ShrinkState({ shrinking }: { shrinking: Shrinking }) {
  const { t } = useTranslation();
  const { name } = shrinking;
  if (shrinking.status === 'running') return <Running shrinking={shrinking} />;
  if (shrinking.status === 'failed') {
    return (
      <Notice
        tone="bad"
        title={t('models.smaller.failed', { name })}
        actions={<Button onClick={putAway}>{t('models.smaller.putAway')}</Button>}
      >
        {sentenceOf(shrinking.failure)}
        <Details text={shrinking.failure.message} />
      </Notice>
    );
  }
  return <Done shrinking={shrinking} />;
}

/** What it cost stands before what it can be used for. */
function Done({ shrinking }: { shrinking: Extract<Shrinking, { status: 'done' }> }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { name, modelId, madeId, quality } = shrinking;
  const [trying, setTrying] = useState(false);
  const measured = quality?.measured;
  const verdict = measured && verdictOf(measured.nats);
  const weaker = verdict != null && isWeaker(verdict);
  const figure = (value: number | null) => (value === null ? MISSING : formats.figure(value));
  const show = () => {
    putAway();
    void useModels.getState().loadDetails(madeId);
  };
  const chat = () => {
    putAway();
    chatWith(madeId);
  };
  const title = t(weaker ? 'models.smaller.done' : 'models.arrived', { name });
  return (
    <section aria-label={title} className="rounded-lg bg-card px-4 py-3 shadow-1">
      <div className="flex flex-wrap items-center gap-2">
        <p role="status" className="min-w-0 font-medium wrap-anywhere">
          {title}
        </p>
        {verdict && <Tag tone={toneOf[verdict]}>{t(`models.cost.verdict.${verdict}`)}</Tag>}
      </div>
      {measured && (
        <p className="mt-1 text-xs text-fg-2 tabular-nums">
          {t('models.smaller.figures', {
            nats: figure(measured.nats),
            after: figure(measured.perplexity),
            before: figure(measured.originalPerplexity),
          })}
        </p>
      )}
      {weaker && quality?.context && <p className="mt-1 text-xs text-fg-2">{t('models.latent.untrained')}</p>}
      <div className="mt-2.5 flex flex-wrap items-center gap-2">
        <Button kind={weaker ? 'default' : 'primary'} onClick={chat}>
          {t('models.useNow')}
        </Button>
        <Button onClick={show}>{t('models.smaller.show')}</Button>
        <Button onClick={() => setTrying(true)}>{t('models.trial.try')}</Button>
        <Button kind="quiet" onClick={putAway}>
          {t('models.smaller.putAway')}
        </Button>
      </div>
      {trying && <TrialDialog made={madeId} original={modelId} onClose={() => setTrying(false)} />}
    </section>
  );
}

function Running({ shrinking }: { shrinking: Extract<Shrinking, { status: 'running' }> }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { name, phase, share, secondsLeft } = shrinking;
  const title = t('models.smaller.making', { name });
  return (
    <section aria-label={title} className="rounded-lg bg-card px-4 py-3 shadow-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="min-w-0 flex-1 font-medium wrap-anywhere">{title}</span>
        <Button onClick={putAway}>{t('cancel')}</Button>
      </div>
      <Progress label={title} share={share} />
      <p className="text-xs text-fg-2 tabular-nums">
        <span role="status">{t(`models.smaller.phase.${phase}`)}</span>
        {secondsLeft !== null && ` ${t('models.smaller.left', { time: formats.duration(secondsLeft * 1000) })}`}
      </p>
    </section>
  );
}
