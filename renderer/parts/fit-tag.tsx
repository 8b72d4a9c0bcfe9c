import { useTranslation } from 'react-i18next';
import type { Forecast } from '../../app/protocol/index.ts';
import { Tag, type Tone } from '../ui/choice.tsx';

const tones: Record<Forecast['verdict'], Tone> = { fits: 'ok', tight: 'warn', 'too-large': 'bad' };

export function FitTag({ verdict }: { verdict: Forecast['verdict'] }) {
  const { t } = useTranslation();
  return <Tag tone={tones[verdict]}>{t(`model.fit.${verdict}`)}</Tag>;
}
