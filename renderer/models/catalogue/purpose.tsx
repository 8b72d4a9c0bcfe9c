import { useTranslation } from 'react-i18next';
import type { CatalogueModel } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { computerFor, purposeOf, stripOfLetters } from '../../stores/models/memory-fit.ts';
import { LayerStrip, useStripLabel } from '../memory/layer-strip.tsx';

/** "Good for writing and summaries, for computers with 8 GB": what a model is for, without technical figures. */
export function usePurpose(model: CatalogueModel | null): string {
  const { t } = useTranslation();
  const formats = useFormats();
  if (model === null) return '';
  const memory = formats.memory(computerFor(model) * 2 ** 30);
  return t('models.plainLine', { purpose: t(`models.purpose.${purposeOf(model)}`), memory });
}

/** Details for the curious. */
export function LayerDetails({ model }: { model: CatalogueModel }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const strip = stripOfLetters(model.layers);
  const label = useStripLabel(strip);
  const parameters = t('models.billions', { count: formats.billions(model.parameters) });
  return (
    <details className="mt-6 border-t border-line pt-3">
      <summary className="cursor-pointer font-semibold">{t('details')}</summary>
      <div className="mt-3 flex items-center gap-2.5 text-xs text-fg-2">
        <LayerStrip strip={strip} />
        <span>{label}</span>
      </div>
      <p className="mt-2 text-xs text-fg-2 tabular-nums">
        {t('models.cardFacts', { parameters, tokens: formats.contextSize(model.context) })}
      </p>
    </details>
  );
}
