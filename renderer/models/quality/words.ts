import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import { MISSING } from '../../ui/format.ts';
import type { DoneRun, Named } from './results.ts';

/** A figure with its interval. */
export function useFigure(): (named: Pick<Named, 'figure' | 'share'>) => string {
  const { t } = useTranslation();
  const formats = useFormats();
  return ({ figure: { value, low, high }, share }) => {
    const one = (number: number) => (share ? formats.percent(number) : formats.figure(number));
    if (value === null) return MISSING;
    if (low === null || high === null) return one(value);
    return t('models.quality.range', { value: one(value), low: one(low), high: one(high) });
  };
}

/** What was tested, in a few words. */
export function useSubject(): (subject: DoneRun['subject']) => string {
  const { t } = useTranslation();
  const formats = useFormats();
  const textOf = (text: string | null, limit: number | null) => {
    const name = text ?? t('models.quality.manual');
    return limit === null ? name : t('models.quality.firstOf', { name, count: limit, tokens: formats.exact(limit) });
  };
  return (subject) => {
    switch (subject.kind) {
      case 'perplexity':
        return textOf(subject.text, subject.limit);
      case 'divergence':
        return t('models.quality.against', {
          name: subject.reference,
          text: textOf(subject.text, subject.limit),
        });
      case 'choices':
        return subject.name;
      case 'reading':
        return t('models.quality.readingOf', {
          name: subject.name,
          count: subject.longest,
          tokens: formats.exact(subject.longest),
        });
      case 'needle':
        return t('models.quality.lengthsOf', {
          lengths: subject.lengths.map((length) => formats.exact(length)).join(', '),
          count: subject.lengths.length * subject.depths.length,
        });
      case 'reasoning':
        return t('models.quality.problemsOf', { count: 5 * subject.problems });
    }
  };
}
