import { useTranslation } from 'react-i18next';
import { useFormats } from '../i18n.ts';
import { Slider } from '../ui/choice.tsx';
import { CONTEXTS } from './shape.ts';
import { useModels } from './store.ts';

/** One context for the whole page: every row follows it. */
export function ContextSlider({ title, memory }: { title: string; memory?: number }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const step = useModels((state) => state.contextStep);
  const tokens = CONTEXTS[step] ?? 0;
  return (
    <div>
      <div className="mb-2 flex items-baseline justify-between gap-3">
        <span className="font-semibold">{title}</span>
        <span className="text-fg-2 tabular-nums">
          <span className="font-semibold text-fg">{formats.exact(tokens)}</span> {t('models.tokens')}
          {memory !== undefined && `, ${formats.memory(memory)}`}
        </span>
      </div>
      <Slider
        label={title}
        value={step}
        stops={CONTEXTS.map((count) => t('tokens', { count, tokens: formats.exact(count) }))}
        onChange={(contextStep) => useModels.setState({ contextStep })}
      />
      <div aria-hidden className="mt-1 flex justify-between text-2xs text-fg-3 tabular-nums">
        {CONTEXTS.map((count) => (
          <span key={count}>{formats.contextSize(count)}</span>
        ))}
      </div>
    </div>
  );
}
