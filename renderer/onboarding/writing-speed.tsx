import { useTranslation } from 'react-i18next';
import type { ModelDescription } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { wordsPerSecond } from '../stores/models/memory-fit.ts';
import { useModels } from '../stores/models/store.ts';
import { Fact } from './fact.tsx';

/** Faster than anyone reads: a higher number would be meaningless. */
const MAX_WORDS = 50;

/** How fast a model writes here. The line's space is reserved until the memory bandwidth is measured. */
export function WritingSpeed({ description }: { description: ModelDescription }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const machine = useModels((state) => state.machine);
  const words = machine && wordsPerSecond(description, machine);
  return <Fact icon="performance">{text()}</Fact>;

  function text(): string {
    if (words === null) return t('onboarding.measuring');
    if (words > MAX_WORDS) return t('onboarding.wordsMany', { words: formats.exact(MAX_WORDS) });
    return t('onboarding.words', { count: Math.max(1, Math.round(words)) });
  }
}
