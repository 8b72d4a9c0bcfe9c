import { useTranslation } from 'react-i18next';
import type { Strip } from '../../stores/models/memory-fit.ts';

/** The memory of a model's layers: low bars have a fixed size, tall ones grow with the context. */
export function LayerStrip({ strip, large = false }: { strip: Strip; large?: boolean }) {
  const label = useStripLabel(strip);
  const thin = strip.looks.length > 40 ? 'w-px' : 'w-0.5';
  return (
    <span role="img" aria-label={label} className={`flex items-end ${large ? 'h-9 w-full gap-[3px]' : 'h-3 gap-px'}`}>
      {strip.looks.map((look, at) => (
        <span
          key={at}
          className={`block ${large ? 'min-w-px flex-1 rounded-[2px]' : thin} ${look === 'grows' ? 'h-full bg-series-1' : 'h-[45%] bg-edge opacity-70'}`}
        />
      ))}
    </span>
  );
}

/** "24 linear + 8 full" */
export function useStripLabel(strip: Strip): string {
  const { t } = useTranslation();
  return strip.counts.map(([group, count]) => t(`models.layers.${group}`, { count })).join(' + ');
}
