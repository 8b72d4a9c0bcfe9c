import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ModelEntry, QUALITY_KINDS, type QualityKind, verdictOf } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { useEngine } from '../../stores/engine.ts';
import { exportQuality, useQuality } from '../../stores/models/quality.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Tag } from '../../ui/choice.tsx';
import { toneOf } from '../shrinking/verdict-tone.ts';
import { Breakdown } from './breakdown.tsx';
import { CompareDialog } from './compare.tsx';
import { TestDialog } from './dialog.tsx';
import { type DoneRun, figuresOf, isDone } from './results.ts';
import { RunState } from './run-state.tsx';
import { useFigure, useSubject } from './words.ts';

/** What is known of what a model is worth, and the tests that can tell more. */
export function QualityTab({ model }: { model: ModelEntry }) {
  const { t } = useTranslation();
  const runs = useQuality((state) => state.runs[model.id]);
  const current = useQuality((state) => state.current);
  const others = useEngine((state) => state.models);
  const [testing, setTesting] = useState<QualityKind | null>(null);
  const [comparing, setComparing] = useState(false);
  useEffect(() => {
    void useQuality.getState().load(model.id);
  }, [model.id]);
  const elsewhere = current !== null && current.modelId !== model.id;
  const unfinished = (runs ?? []).filter((run) => !isDone(run));
  const done = (runs ?? []).filter(isDone);
  return (
    <div className="mt-4">
      {elsewhere && (
        <p className="mb-3 text-xs text-fg-2">
          {t('models.quality.elsewhere', { name: others.find(({ id }) => id === current.modelId)?.name ?? '' })}
        </p>
      )}
      {unfinished.map((run) => (
        <RunState key={run.id} run={run} />
      ))}
      {QUALITY_KINDS.map((kind) => (
        <Kind
          key={kind}
          kind={kind}
          runs={done.filter(({ subject }) => subject.kind === kind)}
          onTest={model.missing || current !== null ? null : () => setTesting(kind)}
        />
      ))}
      {done.length > 0 && <p className="mt-4 text-xs text-fg-3">{t('models.quality.interval')}</p>}
      <div className="mt-4 flex flex-wrap gap-2">
        <Button onClick={() => setComparing(true)}>{t('models.quality.compare.ask')}</Button>
        {done.length > 0 && (
          <Button kind="quiet" icon="download" onClick={() => void exportQuality(model.id, model.name)}>
            {t('models.quality.export')}
          </Button>
        )}
      </div>
      {testing && <TestDialog model={model} kind={testing} onClose={() => setTesting(null)} />}
      {comparing && <CompareDialog model={model} onClose={() => setComparing(false)} />}
    </div>
  );
}

type KindProps = { kind: QualityKind; runs: readonly DoneRun[]; onTest: (() => void) | null };

function Kind({ kind, runs, onTest }: KindProps) {
  const { t } = useTranslation();
  const name = t(`models.quality.kind.${kind}`);
  const action = t(runs.length > 0 ? 'models.quality.again' : 'models.quality.test');
  return (
    <section aria-label={name} className="border-t border-line py-4 first:border-t-0">
      <div className="flex items-center gap-2">
        <h3 className="min-w-0 flex-1 font-semibold">{name}</h3>
        <Button
          aria-label={t('models.quality.testOf', { action, name })}
          disabled={onTest === null}
          onClick={() => onTest?.()}
        >
          {action}
        </Button>
      </div>
      <p className="mt-0.5 text-xs text-fg-3">{t(`models.quality.about.${kind}`)}</p>
      {runs.map((run) => (
        <Result key={run.id} run={run} />
      ))}
    </section>
  );
}

function Result({ run }: { run: DoneRun }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const show = useFigure();
  const { state, subject, id, startedAt } = run;
  const about = useSubject();
  const verdict = state.result.kind === 'divergence' ? verdictOf(state.result.kld.value) : null;
  return (
    <div className="mt-2.5">
      {verdict && <Tag tone={toneOf[verdict]}>{t(`models.cost.verdict.${verdict}`)}</Tag>}
      <dl>
        {figuresOf(state.result).map((named) => (
          <div key={named.metric} className="flex min-h-6 items-baseline justify-between gap-4">
            <dt className="text-fg-2">{t(`models.quality.metric.${named.metric}` as 'models.quality.metric.kld')}</dt>
            <dd className="text-end tabular-nums">{show(named)}</dd>
          </div>
        ))}
      </dl>
      <Breakdown result={state.result} />
      <div className="flex items-center gap-1 text-xs text-fg-3">
        <span className="min-w-0 flex-1 wrap-anywhere">
          {about(subject)}
          {', '}
          {formats.dayOf(startedAt, Date.now())}
          {', '}
          {formats.duration(state.seconds * 1000)}
        </span>
        <IconButton
          icon="delete"
          label={t('models.quality.remove')}
          onClick={() => void core.call('quality.remove', { id }).catch(() => {})}
        />
      </div>
    </div>
  );
}
