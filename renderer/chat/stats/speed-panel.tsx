import { type ReactNode, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message, StatsSample } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { figuresOf, type SpeedSeries, seriesOf, soundSamples } from '../../stores/chat/speed.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { MISSING } from '../../ui/format.ts';
import { ReadTokens } from './read-tokens.tsx';
import { speedPlan } from './speed-chart.ts';

type SpeedPanelProps = { id: string; message: Message; samples: readonly StatsSample[]; onClose: () => void };

/** The speed of an answer over time, with figures below; also as a table. */
export function SpeedPanel({ id, message, samples, onClose }: SpeedPanelProps) {
  const { t } = useTranslation();
  const [table, setTable] = useState(false);
  const series = useMemo(() => seriesOf(samples), [samples]);
  return (
    <section id={id} aria-label={t('speed.title')} className="mt-1.5 rounded-lg bg-card shadow-1 animate-enter">
      <header className="flex items-center gap-3.5 ps-4 pe-2 pt-2 text-xs text-fg-3">
        <span className="text-base font-semibold text-fg">{t('speed.title')}</span>
        <Key line="border-series-1">{t('speed.decode')}</Key>
        <Key line="border-series-3 border-dashed">{t('speed.memory')}</Key>
        <span className="flex-1" />
        <Button kind="quiet" aria-pressed={table} onClick={() => setTable(!table)}>
          {t(table ? 'speed.asChart' : 'speed.asTable')}
        </Button>
        <IconButton small icon="close" label={t('close')} onClick={onClose} />
      </header>
      {series.seconds.length === 0 ? (
        <p className="px-4 py-6 text-fg-3">{t('speed.nothing')}</p>
      ) : table ? (
        <Table samples={samples} />
      ) : (
        <Plot series={series} />
      )}
      <Figures message={message} samples={samples} />
    </section>
  );
}

const Key = ({ line, children }: { line: string; children: ReactNode }) => (
  <span className="inline-flex items-center gap-1.5">
    <span aria-hidden className={`w-3.5 border-t-2 ${line}`} />
    {children}
  </span>
);

function Plot({ series }: { series: SpeedSeries }) {
  const { t } = useTranslation();
  const [at, setAt] = useState<number | null>(null);
  const formats = useFormats();
  const memoryUnit = series.memoryUnit.name;
  const bands = useRef(series.bands);
  bands.current = series.bands;
  const plan = useMemo(
    () =>
      speedPlan({
        bands: () => bands.current,
        memoryUnit,
        words: { prefill: t('speed.prefill'), thinking: t('speed.thinking'), answer: t('speed.answer') },
        formats,
        onCursor: setAt,
      }),
    [t, formats, memoryUnit],
  );
  const data = useMemo(
    () => [series.seconds, series.speeds, series.memory] as [number[], (number | null)[], (number | null)[]],
    [series],
  );
  return (
    <div className="relative px-2 pb-2">
      <Chart plan={plan} data={data} height={180} label={t('speed.picture')} />
      {at !== null && <Reading series={series} at={at} />}
    </div>
  );
}

/** The values under the cursor. */
function Reading({ series, at }: { series: SpeedSeries; at: number }) {
  const formats = useFormats();
  const memory = series.memory[at] ?? null;
  return (
    <div className="pointer-events-none absolute end-16 top-6 flex gap-2.5 rounded-md bg-raised px-2.5 py-1 text-xs text-fg-3 tabular-nums shadow-2">
      <span>{formats.duration((series.seconds[at] ?? 0) * 1000)}</span>
      <b className="font-semibold text-fg">{formats.speed(series.speeds[at] ?? null)}</b>
      {memory !== null && <span>{formats.memory(memory * series.memoryUnit.bytes)}</span>}
    </div>
  );
}

const MAX_ROWS = 60;

/** At most one row a second, to stay readable. */
function Table({ samples }: { samples: readonly StatsSample[] }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const all = soundSamples(samples);
  const step = Math.max(1, Math.ceil(all.length / MAX_ROWS));
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys
      tabIndex={0}
      aria-label={t('speed.asTable')}
      className="max-h-52 overflow-y-auto px-4 pt-2 pb-3 ring-inset-focus"
    >
      <table className="w-full text-start text-xs tabular-nums">
        <thead className="text-fg-3">
          <tr>
            {(['time', 'phase', 'decode', 'tokens', 'memory'] as const).map((column) => (
              <th key={column} scope="col" className="py-1 text-start font-normal">
                {t(`speed.${column}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all
            .filter((_, index) => index % step === 0)
            .map((sample) => (
              <tr key={sample.atMs} className="border-t border-line">
                <td className="py-1">{formats.duration(sample.atMs)}</td>
                <td>{t(`speed.${sample.phase}`)}</td>
                <td>{formats.speed(sample.tokensPerSecond)}</td>
                <td>{formats.exact(sample.tokens)}</td>
                <td>{sample.memoryBytes === null ? MISSING : formats.memory(sample.memoryBytes)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}

function Figures({ message, samples }: { message: Message; samples: readonly StatsSample[] }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const figures = figuresOf(message, samples);
  const { decode, device } = figures;
  return (
    <dl className="flex flex-wrap border-t border-line tabular-nums">
      <Figure
        label={t('speed.firstToken')}
        value={figures.firstTokenMs === null ? MISSING : formats.duration(figures.firstTokenMs)}
      />
      <Figure
        label={t('speed.prefill')}
        value={formats.speed(figures.prefillSpeed)}
        note={<ReadTokens usage={message.usage} />}
      />
      <Figure
        label={t('speed.median')}
        value={formats.speed(decode?.median ?? null)}
        {...(decode && {
          note: t('speed.range', { low: formats.exact(decode.low), high: formats.exact(decode.high) }),
        })}
      />
      {message.usage && (
        <Figure
          label={t('speed.written')}
          value={formats.exact(message.usage.answerTokens + message.usage.thinkingTokens)}
          note={t('speed.prompt', { tokens: formats.exact(message.usage.promptTokens) })}
        />
      )}
      {device && (
        <Figure
          label={t('speed.device')}
          value={formats.duration(device.ms)}
          note={t('speed.deviceShare', { share: formats.percent(device.share) })}
        />
      )}
      <Figure
        label={t('speed.peak')}
        value={figures.peakMemory === null ? MISSING : formats.memory(figures.peakMemory)}
      />
    </dl>
  );
}

const Figure = ({ label, value, note }: { label: string; value: string; note?: ReactNode }) => (
  <div className="flex-auto border-e border-line px-4 py-2.5 last:border-e-0">
    <dt className="text-xs text-fg-3">{label}</dt>
    <dd className="text-md font-semibold">{value}</dd>
    {note && <dd className="text-xs text-fg-3">{note}</dd>}
  </div>
);
