import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type ComparedFigure,
  canChat,
  compareQuality,
  type ModelEntry,
  type ModelId,
  QUALITY_KINDS,
  type QualityKind,
} from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { useEngine } from '../../stores/engine.ts';
import { useQuality } from '../../stores/models/quality.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/choice.tsx';
import { MISSING } from '../../ui/format.ts';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { pairsOf } from './results.ts';
import { useFigure, useSubject } from './words.ts';

/** Two models side by side in every test that both passed. What chance explains is called no difference. */
export function CompareDialog({ model, onClose }: { model: ModelEntry; onClose: () => void }) {
  const { t } = useTranslation();
  const models = useEngine((state) => state.models).filter((one) => canChat(one) && one.remote === null);
  const first = models.find(({ id }) => id !== model.id);
  const [ids, setIds] = useState<readonly [ModelId, ModelId]>([first?.id ?? model.id, model.id]);
  const runs = useQuality((state) => state.runs);
  useEffect(() => {
    for (const id of ids) void useQuality.getState().load(id);
  }, [ids]);
  const pairs = pairsOf(runs[ids[0]] ?? [], runs[ids[1]] ?? [], QUALITY_KINDS).filter(({ a, b }) => a || b);
  const compared = pairs.flatMap((pair) => {
    const figures = pair.matched && pair.a && pair.b ? compareQuality(pair.a.state.result, pair.b.state.result) : null;
    return figures && pair.a ? [{ kind: pair.kind, subject: pair.a.subject, figures }] : [];
  });
  const alone = pairs.filter(({ kind }) => !compared.some((one) => one.kind === kind)).map(({ kind }) => kind);
  const choose = (at: 0 | 1, id: string) => {
    const found = models.find((one) => one.id === id)?.id;
    if (found) setIds(at === 0 ? [found, ids[1]] : [ids[0], found]);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('models.quality.compare.title')}
      description={t('models.quality.compare.about')}
      width={960}
      footer={
        <>
          <span className="flex-1" />
          <Button large data-suggested onClick={onClose}>
            {t('models.smaller.putAway')}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
        {([0, 1] as const).map((at) => (
          <span key={at} className="flex min-w-0 items-center gap-2.5">
            <Letter at={at} />
            <Select
              label={t('models.quality.compare.model', { letter: at === 0 ? 'A' : 'B' })}
              width="fill"
              value={ids[at]}
              options={models.map(({ id, name }) => ({ value: id as string, name }))}
              onChange={(id) => choose(at, id)}
            />
          </span>
        ))}
      </div>
      <Verdict figures={compared.flatMap(({ figures }) => figures)} same={ids[0] === ids[1]} />
      {compared.length > 0 && (
        <>
          <Table groups={compared} />
          <p className="mt-2 text-xs text-fg-3">{t('models.quality.compare.small')}</p>
        </>
      )}
      {alone.length > 0 && compared.length > 0 && <Alone kinds={alone} />}
    </Dialog>
  );
}

const Letter = ({ at }: { at: 0 | 1 }) => (
  <span
    className={`grid size-5 flex-none place-items-center rounded-sm text-xs font-semibold boxed ${at === 0 ? 'text-series-1' : 'text-series-2'}`}
  >
    <span className="text-fg">{at === 0 ? 'A' : 'B'}</span>
  </span>
);

/** The answer in one sentence. */
function Verdict({ figures, same }: { figures: readonly ComparedFigure[]; same: boolean }) {
  const { t } = useTranslation();
  const has = (verdict: ComparedFigure['verdict']) => figures.some((one) => one.verdict === verdict);
  const word = same
    ? 'same'
    : figures.length === 0
      ? 'nothing'
      : has('better') && has('worse')
        ? 'both'
        : has('better')
          ? 'better'
          : has('worse')
            ? 'worse'
            : has('none')
              ? 'none'
              : 'tooFew';
  return (
    <p role="status" className="mt-4 text-md font-medium">
      {t(`models.quality.compare.verdict.${word}`)}
    </p>
  );
}

type Group = { kind: QualityKind; subject: Parameters<ReturnType<typeof useSubject>>[0]; figures: ComparedFigure[] };

function Table({ groups }: { groups: readonly Group[] }) {
  const { t } = useTranslation();
  const about = useSubject();
  return (
    <table className="mt-3 mb-1 w-full tabular-nums">
      <thead className="text-2xs text-fg-3">
        <tr>
          <th className="h-row">
            <span className="sr-only">{t('performance.metric')}</span>
          </th>
          {['A', 'B', t('performance.against')].map((head) => (
            <th key={head} scope="col" className="px-3 text-end font-medium whitespace-nowrap max-lg:px-2">
              {head}
            </th>
          ))}
          <th>
            <span className="sr-only">{t('performance.meaning')}</span>
          </th>
        </tr>
      </thead>
      {groups.map(({ kind, subject, figures }) => (
        <tbody key={kind}>
          <tr className="border-t border-line">
            <th scope="rowgroup" colSpan={5} className="pt-3 pb-1 text-start">
              <span className="font-semibold">{t(`models.quality.kind.${kind}`)}</span>{' '}
              <span className="font-normal text-xs text-fg-3 wrap-anywhere">{about(subject)}</span>
            </th>
          </tr>
          {figures.map((figure) => (
            <Row key={figure.metric} figure={figure} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

const PLAIN: readonly ComparedFigure['metric'][] = ['perplexity', 'bitsPerByte', 'kld'];

function Row({ figure: { metric, a, b, verdict, difference, unlike } }: { figure: ComparedFigure }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const show = useFigure();
  const share = !PLAIN.includes(metric);
  const { value, low, high } = difference;
  const change = share || metric === 'perplexity' ? formats.change : formats.figure;
  return (
    <tr className="align-top">
      <th scope="row" className="py-1.5 text-start font-normal">
        {t(`models.quality.metric.${metric}`)}
      </th>
      {[a, b].map((figure, at) => (
        <td key={at === 0 ? 'a' : 'b'} className="px-3 py-1.5 text-end font-medium max-lg:px-2">
          {show({ figure, share })}
        </td>
      ))}
      <td className="px-3 py-1.5 text-end whitespace-nowrap text-fg-2 max-lg:px-2">
        {value === null ? MISSING : change(value)}
        {low !== null && high !== null && low < high && (
          <span className="block text-xs text-fg-3">
            {t('models.quality.compare.range', { low: change(low), high: change(high) })}
          </span>
        )}
      </td>
      <td
        className={`ps-3 py-1.5 max-lg:text-xs ${verdict === 'better' ? 'text-ok-text' : verdict === 'worse' ? 'text-warn-text' : 'text-fg-3'}`}
      >
        {t(`models.quality.compare.row.${verdict}`)}
        {unlike && (unlike.onlyA > 0 || unlike.onlyB > 0) && (
          <span className="block text-xs text-fg-3">{t('models.quality.compare.unlike', unlike)}</span>
        )}
      </td>
    </tr>
  );
}

function Alone({ kinds }: { kinds: readonly QualityKind[] }) {
  const { t } = useTranslation();
  const names = kinds.map((kind) => t(`models.quality.kind.${kind}`)).join(', ');
  return <p className="mt-3 text-xs text-fg-3">{t('models.quality.compare.alone', { names })}</p>;
}
