import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../../app/protocol/index.ts';
import { spreadOf } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { useEngine } from '../stores/engine.ts';
import type { Point } from '../stores/performance/live.ts';
import { usePerformance } from '../stores/performance/store.ts';
import { MISSING, rangeOf, split } from '../ui/format.ts';
import { LiveLine } from './live-line.tsx';

const LATEST = 30;

const tones = {
  decode: { bar: 'bg-series-1', line: 'text-series-1' },
  prefill: { bar: 'bg-series-2', line: 'text-series-2' },
  memory: { bar: 'bg-series-3', line: 'text-series-3' },
} as const;
type Tone = keyof typeof tones;

/** Figures of the latest answers, updated at once. */
export function Tiles() {
  const { t } = useTranslation();
  const formats = useFormats();
  const runs = usePerformance((state) => state.runs);
  const status = useEngine((state) => state.status);
  const latest = runs.slice(0, LATEST).toReversed();
  const decode = spreadOf(latest.map((run) => run.decode));
  const prefill = spreadOf(latest.map((run) => run.prefill));
  const first = spreadOf(latest.map((run) => run.firstTokenMs));
  const live = usePerformance((state) => state.live);
  const writing = live.turnId !== null;
  const now = writing ? live.points.findLast(({ decode, prefill }) => decode !== null || prefill !== null) : undefined;
  const memory = now?.memory ?? ('memoryBytes' in status ? status.memoryBytes : null);
  const picture = (of: (point: Point) => number | null, bars: (run: Run) => number | null, name: Tone) =>
    live.points.some((point) => of(point) !== null) ? (
      <LiveLine points={live.points} of={of} tone={tones[name].line} />
    ) : (
      <Bars runs={latest} of={bars} tone={tones[name].bar} />
    );
  return (
    <section aria-label={t('performance.live')}>
      <div className="flex h-10 items-center gap-2 border-b border-line px-5">
        <span aria-hidden className={`size-2 rounded-full ${writing ? 'bg-ok animate-breathe' : 'bg-ok'}`} />
        <b className="font-semibold">{t('performance.live')}</b>
        <span className="text-fg-3">
          {t('performance.latest', { answers: formats.exact(latest.length), count: latest.length })}
        </span>
      </div>
      <dl className="flex flex-wrap">
        <Tile
          label={t('performance.decode')}
          value={formats.speed(now?.decode ?? decode?.median ?? null)}
          note={now?.decode ? t('performance.now') : rangeOf(decode, formats.speed, t)}
        >
          {picture(
            (point) => point.decode,
            (run) => run.decode,
            'decode',
          )}
        </Tile>
        <Tile
          label={t('performance.prefill')}
          value={formats.speed(now?.prefill ?? prefill?.median ?? null)}
          note={now?.prefill ? t('performance.now') : rangeOf(prefill, formats.speed, t)}
        >
          {picture(
            (point) => point.prefill,
            (run) => run.prefill,
            'prefill',
          )}
        </Tile>
        <Tile
          label={t('performance.firstToken')}
          value={first ? formats.duration(first.median) : MISSING}
          note={rangeOf(first, formats.duration, t)}
        >
          <Bars runs={latest} of={(run) => run.firstTokenMs} tone="bg-series-5" />
        </Tile>
        <Tile label={t('performance.memory')} value={memory === null ? MISSING : formats.memory(memory)} note="">
          {picture(
            (point) => point.memory,
            (run) => run.memoryBytes,
            'memory',
          )}
        </Tile>
      </dl>
    </section>
  );
}

type TileProps = { label: string; value: string; note: string; children: ReactNode };

const Tile = ({ label, value, note, children }: TileProps) => (
  <div className="min-w-44 flex-1 border-e border-line px-5 py-3 last:border-e-0">
    <dt className="text-xs text-fg-3">{label}</dt>
    <dd className="text-fg-3 tabular-nums">
      <span className="text-xl font-semibold tracking-tight text-fg">{split(value).figure}</span> {split(value).unit}
    </dd>
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
