import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf, type QualityRun } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Details, Problem } from '../../parts/problem.tsx';
import { sentenceOf } from '../../sentences.ts';
import { useQuality } from '../../stores/models/quality.ts';
import { Button } from '../../ui/button.tsx';
import { Progress } from '../../ui/meter.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useSubject } from './words.ts';

/** A test that is not over: under way, stopped, or failed. */
export function RunState({ run }: { run: QualityRun }) {
  const { t } = useTranslation();
  const about = useSubject();
  const [problem, setProblem] = useState<Failure | null>(null);
  const busy = useQuality((state) => state.current !== null);
  const { id, state, subject } = run;
  const name = t(`models.quality.kind.${subject.kind}`);
  const ask = (work: Promise<unknown>) => {
    setProblem(null);
    work.catch((error) => setProblem(failureOf(error)));
  };
  const buttons = (
    <>
      <Button disabled={busy} onClick={() => ask(core.call('quality.resume', { id }))}>
        {t('models.quality.resume')}
      </Button>
      <Button kind="quiet" onClick={() => ask(core.call('quality.remove', { id }))}>
        {t('models.quality.discard')}
      </Button>
    </>
  );
  if (state.status === 'running') return <Running state={state} name={name} about={about(subject)} />;
  if (state.status === 'failed') {
    return (
      <div className="mb-4">
        <Notice tone="bad" title={t('models.quality.failed', { name })} actions={buttons}>
          {sentenceOf(state.failure)}
          <Details text={state.failure.message} />
        </Notice>
        {problem && <Problem failure={problem} className="mt-2" />}
      </div>
    );
  }
  return (
    <section aria-label={name} className="mb-4 rounded-lg bg-card px-4 py-3 shadow-1">
      <p className="font-medium">{t('models.quality.stopped', { name })}</p>
      <p className="mt-0.5 text-xs text-fg-3 wrap-anywhere">{about(subject)}</p>
      <div className="mt-2.5 flex flex-wrap gap-2">{buttons}</div>
      {problem && <Problem failure={problem} className="mt-2" />}
    </section>
  );
}

type RunningProps = { state: Extract<QualityRun['state'], { status: 'running' }>; name: string; about: string };

function Running({ state, name, about }: RunningProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { phase, share, secondsLeft, waiting } = state;
  const title = t('models.quality.running', { name });
  return (
    <section aria-label={title} className="mb-4 rounded-lg bg-card px-4 py-3 shadow-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <span className="min-w-0 flex-1 font-medium wrap-anywhere">{title}</span>
        <Button onClick={() => void core.call('quality.stop').catch(() => {})}>{t('models.quality.stop')}</Button>
      </div>
      <p className="mt-0.5 text-xs text-fg-3 wrap-anywhere">{about}</p>
      <Progress label={title} share={share} />
      <p className="text-xs text-fg-2 tabular-nums">
        <span role="status">{t(waiting ? 'models.quality.waiting' : `models.quality.phase.${phase}`)}</span>
        {!waiting &&
          secondsLeft !== null &&
          ` ${t('models.smaller.left', { time: formats.duration(secondsLeft * 1000) })}`}
      </p>
    </section>
  );
}
