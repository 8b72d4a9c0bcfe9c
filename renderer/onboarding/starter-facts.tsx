import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { Fact } from './fact.tsx';
import { WritingSpeed } from './writing-speed.tsx';

/** Figures of the built-in model, from its own files. */
export function StarterFacts({ model }: { model: ModelEntry | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const description = model?.description;
  return (
    <>
      <Fact icon="check">{t('onboarding.ready')}</Fact>
      {description && <WritingSpeed description={description} />}
      {description && (
        <Fact icon="engine">
          {t('onboarding.memory', { memory: formats.memory(description.weightBytes + description.stateBytes) })}
        </Fact>
      )}
    </>
  );
}
