import { useTranslation } from 'react-i18next';
import type { ModelDescription } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { contextsOf } from '../../stores/models/memory-fit.ts';
import { useModels } from '../../stores/models/store.ts';
import { Slider } from '../../ui/choice.tsx';

type ContextSliderProps = { title: string; model: Pick<ModelDescription, 'contextLength'>; memory?: number };

/** One context for the whole page: every row follows it. Its maximum is the model's. */
export function ContextSlider({ title, model, memory }: ContextSliderProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const wanted = useModels((state) => state.contextLength);
  const sizes = contextsOf(model);
  const last = sizes.length - 1;
  const found = sizes.findLastIndex((size) => size <= wanted);
  const at = wanted >= model.contextLength ? last : Math.max(0, found);
  const tokens = sizes[at] ?? model.contextLength;
  return (
    <div>
      <div className="mb-2 flex items-baseline justify-between gap-3">
        <span className="font-semibold">{title}</span>
        <span className="text-fg-2 tabular-nums">
          <span className="font-semibold text-fg">{formats.exact(tokens)}</span> {t('models.tokens')}
          {memory !== undefined && `, ${formats.memory(memory)}`}
        </span>
      </div>
      {sizes.length > 1 && (
        <>
          <Slider
            label={title}
            value={at}
            stops={sizes.map((count) => t('tokens', { count, tokens: formats.exact(count) }))}
            onChange={(next) => useModels.setState({ contextLength: sizes[next] ?? tokens })}
          />
          <div aria-hidden className="mt-1 flex justify-between text-2xs text-fg-3 tabular-nums">
            {sizes.map((count) => (
              <span key={count}>{formats.contextSize(count)}</span>
            ))}
          </div>
        </>
      )}
    </div>
  );
}
