import { useTranslation } from 'react-i18next';
import type { SamplingSettings } from '../../app/protocol/index.ts';
import { useFormats } from '../i18n.ts';
import { NumberField, SettingRow } from '../ui/field.tsx';

type Limits = { min: number; max: number; step: number };

/** The limits of the protocol, so that nothing can be entered that the core would refuse. */
const fields: [keyof SamplingSettings, Limits][] = [
  ['temperature', { min: 0, max: 5, step: 0.1 }],
  ['topK', { min: 0, max: 1000, step: 1 }],
  ['topP', { min: 0, max: 1, step: 0.05 }],
  ['minP', { min: 0, max: 1, step: 0.05 }],
  ['repetitionPenalty', { min: 0.5, max: 2, step: 0.05 }],
  ['presencePenalty', { min: -2, max: 2, step: 0.1 }],
  ['frequencyPenalty', { min: -2, max: 2, step: 0.1 }],
  ['maxTokens', { min: 1, max: 1_000_000, step: 1 }],
  ['seed', { min: 0, max: Number.MAX_SAFE_INTEGER, step: 1 }],
];

export function SamplingFields({
  values,
  onChange,
}: {
  values: SamplingSettings;
  onChange: (values: SamplingSettings) => void;
}) {
  const { t } = useTranslation();
  const formats = useFormats();
  const change = (name: keyof SamplingSettings, value: number | undefined) => {
    const { [name]: _, ...rest } = values;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  return (
    <div className="-mx-4">
      {fields.map(([name, limits]) => (
        <SettingRow key={name} name={t(`setting.sampling.${name}`)} about={t(`samplingAbout.${name}`)}>
          <NumberField
            label={t(`setting.sampling.${name}`)}
            value={values[name]}
            {...limits}
            placeholder={t('sampling.fromModel')}
            problem={
              limits.max === Number.MAX_SAFE_INTEGER
                ? t('sampling.whole')
                : t('sampling.range', { min: limits.min, max: formats.exact(limits.max) })
            }
            onChange={(value) => change(name, value)}
          />
        </SettingRow>
      ))}
    </div>
  );
}
