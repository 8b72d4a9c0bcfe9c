import { useTranslation } from 'react-i18next';
import { SamplingFields } from './sampling-fields.tsx';
import { Section } from './section.tsx';
import { useSettings } from './store.ts';

export function Sampling() {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  return (
    <Section title={t('settings.sampling')} note={t('sampling.note')}>
      <div className="px-4">
        <SamplingFields values={values.sampling} onChange={(sampling) => void set({ sampling })} />
      </div>
    </Section>
  );
}
