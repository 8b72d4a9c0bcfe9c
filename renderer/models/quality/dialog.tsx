import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  canChat,
  type Failure,
  failureOf,
  type ModelEntry,
  type QualityKind,
  type QualityPlan,
  type QualityTest,
} from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Problem } from '../../parts/problem.tsx';
import { useEngine } from '../../stores/engine.ts';
import { useModels } from '../../stores/models/store.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { TestSettings } from './settings.tsx';
import { testOf, USUAL, type Wish } from './wish.ts';

type Looked =
  | { status: 'none' }
  | { status: 'looking' }
  | { status: 'known'; plan: QualityPlan }
  | { status: 'failed'; failure: Failure };

/** While somebody still chooses, nothing is measured. */
const SETTLE_MS = 600;

type TestDialogProps = { model: ModelEntry; kind: QualityKind; onClose: () => void };

/** Asks what exactly is tested, and says what it will take before anything begins. */
export function TestDialog({ model, kind, onClose }: TestDialogProps) {
  const { t } = useTranslation();
  const others = useEngine((state) => state.models).filter(
    (one) => canChat(one) && !one.missing && one.remote === null && one.id !== model.id,
  );
  const [wish, setWish] = useState<Wish>({ ...USUAL, other: others[0]?.id ?? null });
  const [starting, setStarting] = useState(false);
  const [problem, setProblem] = useState<Failure | null>(null);
  const test = testOf(kind, wish);
  const looked = useForecast(model, test);
  const start = async (asked: QualityTest) => {
    setStarting(true);
    setProblem(null);
    try {
      await core.call('quality.start', { modelId: model.id, test: asked });
      onClose();
    } catch (error) {
      setProblem(failureOf(error));
      setStarting(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('models.quality.title', { kind: t(`models.quality.kind.${kind}`), name: model.name })}
      description={t(`models.quality.about.${kind}`)}
      width={620}
      footer={
        <>
          <span className="min-w-0 flex-1">{problem && <Problem failure={problem} />}</span>
          <Button large onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button
            large
            kind="primary"
            data-suggested
            disabled={test === null || starting || looked.status !== 'known'}
            onClick={() => test && void start(test)}
          >
            {t('models.quality.start')}
          </Button>
        </>
      }
    >
      <TestSettings kind={kind} wish={wish} others={others} onChange={(change) => setWish({ ...wish, ...change })} />
      <Forecast looked={looked} kind={kind} />
    </Dialog>
  );
}

/** Measured anew with every change, once it rests. */
function useForecast(model: ModelEntry, test: QualityTest | null): Looked {
  const [looked, setLooked] = useState<Looked>({ status: 'none' });
  const asked = JSON.stringify(test);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the test is a new object each time; its text is not
  useEffect(() => {
    if (test === null) return setLooked({ status: 'none' });
    const left = new AbortController();
    setLooked({ status: 'looking' });
    const look = () =>
      core.call('quality.plan', { modelId: model.id, test }, { signal: left.signal }).then(
        (plan) => !left.signal.aborted && setLooked({ status: 'known', plan }),
        (error) => !left.signal.aborted && setLooked({ status: 'failed', failure: failureOf(error) }),
      );
    const timer = setTimeout(() => void look(), SETTLE_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [model.id, asked]);
  return looked;
}

function Forecast({ looked, kind }: { looked: Looked; kind: QualityKind }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const machine = useModels((state) => state.machine);
  const loaded = useEngine(({ status }) =>
    status.phase === 'ready' || status.phase === 'busy' ? status.memoryBytes : 0,
  );
  if (looked.status === 'failed')
    return <Problem failure={looked.failure} className="mt-3 border-t border-line pt-3.5" />;
  if (looked.status === 'none') return null;
  if (looked.status === 'looking') {
    return (
      <p role="status" className="mt-3 border-t border-line pt-3.5 text-fg-2">
        {t('models.quality.looking')}
      </p>
    );
  }
  const { seconds, reads, writes, memoryBytes } = looked.plan;
  const tight = machine !== null && loaded + memoryBytes > machine.limitBytes;
  const time = formats.duration(seconds * 1000);
  return (
    <section aria-label={t('models.quality.forecast')} className="mt-3 border-t border-line pt-3.5">
      <dl className="flex flex-wrap gap-x-8 gap-y-2 tabular-nums">
        <Cost name={t('models.quality.time')}>
          {t(writes > 0 ? 'models.quality.atMost' : 'models.quality.roughly', { time })}
        </Cost>
        <Cost name={t('models.quality.reads')}>
          {t('models.quality.tokensOf', { count: reads, tokens: formats.exact(reads) })}
        </Cost>
        {writes > 0 && (
          <Cost name={t('models.quality.writes')}>
            {t('models.quality.upTo', { count: writes, tokens: formats.exact(writes) })}
          </Cost>
        )}
        <Cost name={t('models.quality.memory')}>{formats.memory(memoryBytes)}</Cost>
      </dl>
      {tight && <p className="mt-2 text-xs text-warn-text">{t('models.quality.tight')}</p>}
      <p className="mt-2 text-xs text-fg-3">
        {t(kind === 'divergence' ? 'models.quality.whileBoth' : 'models.quality.while')}
      </p>
    </section>
  );
}

const Cost = ({ name, children }: { name: string; children: string }) => (
  <div>
    <dt className="text-xs text-fg-3">{name}</dt>
    <dd className="font-medium">{children}</dd>
  </div>
);
