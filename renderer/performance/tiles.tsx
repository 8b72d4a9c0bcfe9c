import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../../app/protocol/index.ts';
import { spreadOf } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { useEngine } from '../shell/engine.ts';
import { MISSING } from '../ui/format.ts';
import { usePerformance } from './store.ts';

const LATEST = 30;

/** What the latest answers were like. A new one comes in at once. */
export function Tiles() {
  const { t } = useTranslation();
  const formats = useFormats();
  const runs = usePerformance((state) => state.runs);
  const status = useEngine((state) => state.status);
  const latest = runs.slice(0, LATEST).toReversed();
  const decode = spreadOf(latest.map((run) => run.decode));
  const prefill = spreadOf(latest.map((run) => run.prefill));
  const first = spreadOf(latest.map((run) => run.firstTokenMs));
  const memory = 'memoryBytes' in status ? status.memoryBytes : null;
  return (
    <section aria-label={t('performance.live')}>
      <div className="flex h-10 items-center gap-2 border-b border-line px-5">
        <span
          aria-hidden
          className={`size-2 rounded-full ${status.at === 'busy' ? 'bg-ok animate-breathe' : 'bg-ok'}`}
        />
        <b className="font-semibold">{t('performance.live')}</b>
        <span className="text-fg-3">
          {t('performance.latest', { answers: formats.exact(latest.length), count: latest.length })}
        </span>
      </div>
      <dl className="flex flex-wrap">
        <Tile
          label={t('performance.decode')}
          value={formats.speed(decode?.median ?? null)}
          note={range(decode, formats.speed)}
        >
          <Bars runs={latest} of={(run) => run.decode} tone="bg-series-1" />
        </Tile>
        <Tile
          label={t('performance.prefill')}
          value={formats.speed(prefill?.median ?? null)}
          note={range(prefill, formats.speed)}
        >
          <Bars runs={latest} of={(run) => run.prefill} tone="bg-series-2" />
        </Tile>
        <Tile
          label={t('performance.firstToken')}
          value={first ? formats.duration(first.median) : MISSING}
          note={range(first, formats.duration)}
        >
          <Bars runs={latest} of={(run) => run.firstTokenMs} tone="bg-series-5" />
        </Tile>
        <Tile label={t('performance.memory')} value={memory === null ? MISSING : formats.memory(memory)} note="">
          <Bars runs={latest} of={(run) => run.memoryBytes} tone="bg-series-3" />
        </Tile>
      </dl>
    </section>
  );
}

const range = (spread: { low: number; high: number } | null, format: (value: number) => string): string =>
  spread ? `${format(spread.low)} – ${format(spread.high)}` : '';

type TileProps = { label: string; value: string; note: string; children: ReactNode };

const Tile = ({ label, value, note, children }: TileProps) => (
  <div className="min-w-44 flex-1 border-e border-line px-5 py-3 last:border-e-0">
    <dt className="text-xs text-fg-3">{label}</dt>
    <dd className="text-xl font-semibold tabular-nums">{value}</dd>
    <dd className="h-4 text-xs text-fg-3 tabular-nums">{note}</dd>
    <dd aria-hidden className="mt-2">
      {children}
    </dd>
  </div>
);

/** One bar an answer, oldest first. */
function Bars({ runs, of, tone }: { runs: readonly Run[]; of: (run: Run) => number | null; tone: string }) {
  const most = Math.max(0, ...runs.map((run) => of(run) ?? 0));
  return (
    <div className="flex h-8 items-end gap-px border-b border-line">
      {runs.map((run) => (
        <span
          key={run.id}
          className={`min-w-0 flex-1 opacity-70 ${tone}`}
          style={{ height: most === 0 ? 0 : `${((of(run) ?? 0) / most) * 100}%` }}
        />
      ))}
    </div>
  );
}
