import { useTranslation } from 'react-i18next';
import type { Machine, Variant } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { FitTag } from '../../parts/fit-tag.tsx';
import { useEngine } from '../../stores/engine.ts';
import { type Chosen, type FormRow, fitOf, qualityOf } from '../../stores/models/memory-fit.ts';
import { measuredFor } from '../../stores/models/speeds.ts';
import { useModels } from '../../stores/models/store.ts';
import { usePerformance } from '../../stores/performance/store.ts';
import { MISSING } from '../../ui/format.ts';

type VariantsProps = {
  rows: readonly FormRow[];
  current: FormRow | null;
  suggested: Variant | null;
  machine: Machine;
  chosen: Chosen;
};

/** The variants of one model, largest first; one is selected. */
export function Quantisations({ rows, current, suggested, machine, chosen }: VariantsProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { look } = useModels.getState();
  const choose = ({ reference, variant }: FormRow) => {
    useModels.setState({ variant: { reference, id: variant.id } });
    if (!variant.exact) void look(reference, { variant: variant.id });
  };
  const speedText = (speed: number | null, tooLarge: boolean) =>
    speed === null || tooLarge ? MISSING : formats.exact(Math.max(1, Math.round(speed)));
  const models = useEngine((state) => state.models);
  const runs = usePerformance((state) => state.runs);
  const longest = Math.max(...rows.map(({ variant }) => variant.description.contextLength));
  const head = 'py-2 font-normal text-2xs text-fg-3';
  return (
    <table className="-mx-7 mt-6 w-[calc(100%+3.5rem)] table-auto">
      <thead>
        <tr className="border-b border-line">
          <th className={`${head} ps-7 text-start`}>{t('models.column.quantisation')}</th>
          <th className={`${head} text-start max-xl:hidden`}>{t('models.column.quality')}</th>
          <th className={`${head} ps-3 text-end`}>{t('models.column.download')}</th>
          <th className={`${head} ps-3 text-end`}>
            {t('models.column.memory', { tokens: formats.contextSize(Math.min(chosen.contextLength, longest)) })}
          </th>
          <th className={`${head} text-end max-xl:hidden`}>{t('models.column.speed')}</th>
          <th className={`${head} ps-5 pe-7 text-start`}>{t('models.column.fit')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const { variant, reference } = row;
          const fit = fitOf(variant.description, machine, chosen);
          const picked = row === current;
          const here = measuredFor(variant.description, models, runs);
          return (
            <tr
              key={`${reference}/${variant.id}`}
              className={`h-10 border-b border-line tabular-nums ${picked ? 'bg-ink-soft' : 'hover:bg-hover'}`}
              onClick={() => choose(row)}
            >
              <td className="ps-7">
                <label className="flex items-center gap-2.5">
                  <input
                    type="radio"
                    name="variant"
                    checked={picked}
                    onChange={() => choose(row)}
                    className="size-4 flex-none accent-ink"
                  />
                  <bdi className={picked ? 'font-semibold' : ''}>
                    {variant.label || t(`models.form.${variant.kind}`)}
                  </bdi>
                  {variant.kind !== 'gguf' && (
                    <span className="text-xs text-fg-3">{t(`models.form.${variant.kind}`)}</span>
                  )}
                  {variant === suggested && (
                    <span className="text-2xs font-medium text-ink-text">{t('models.suggested')}</span>
                  )}
                </label>
              </td>
              <td className="max-xl:hidden">{t(`models.loss.${qualityOf(variant)}`)}</td>
              <td className="text-end">{formats.fileSize(variant.bytes)}</td>
              <td className="text-end">{formats.memory(fit.total)}</td>
              <td className="text-end max-xl:hidden">
                {speedText(here ?? fit.tokensPerSecond, fit.verdict === 'too-large')}
                {here !== null && <span className="ms-1.5 text-2xs text-ok-text">{t('models.measured')}</span>}
              </td>
              <td className="ps-5 pe-7">
                <FitTag verdict={fit.verdict} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
