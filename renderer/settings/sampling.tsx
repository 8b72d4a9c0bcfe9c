import { useTranslation } from 'react-i18next';
import { SamplingFields } from '../parts/sampling-fields.tsx';
import { useSettings } from '../stores/settings.ts';
import { Section } from './section.tsx';

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
