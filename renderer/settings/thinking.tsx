import { useTranslation } from 'react-i18next';
import { useFormats } from '../i18n.ts';
import { type Thinks, thinkingOf, thinksOf } from '../lib/thinking.ts';
import { useSettings } from '../stores/settings.ts';
import { Segmented, Select, Switch } from '../ui/choice.tsx';
import { SettingRow } from '../ui/field.tsx';
import { Section } from './section.tsx';

const thinks: Thinks[] = ['off', 'auto', 'on'];
const shows = ['collapsed', 'running', 'open'] as const;
const levels = ['off', 'relaxed', 'balanced', 'strict'] as const;
const actions = ['ask', 'answer-now', 'rewind', 'keep-going'] as const;
const budgets = ['1024', '2048', '4096', '8192', '16384', '32768', 'none'] as const;
const waits = ['0', '10', '20', '60', '300'] as const;

export function ThinkingAndLoops() {
  const { t } = useTranslation();
  const formats = useFormats();
  const { values, set } = useSettings();
  const { loopGuard, thinkingBudget } = values;
  const guard = (patch: Partial<typeof loopGuard>) => void set({ loopGuard: { ...loopGuard, ...patch } });
  const budget = thinkingBudget.tokens === null ? 'none' : String(thinkingBudget.tokens);
  const known = budgets.includes(budget as (typeof budgets)[number]) ? budgets : [...budgets, budget];
  return (
    <Section title={t('settings.thinking')}>
      <SettingRow name={t('setting.thinking.default')} about={t('setting.thinking.defaultAbout')}>
        <Segmented
          label={t('setting.thinking.default')}
          value={thinksOf(values.thinkingByDefault)}
          options={thinks.map((value) => ({ value, name: t(`thinking.${value}`) }))}
          onChange={(value) => void set({ thinkingByDefault: thinkingOf(value) })}
        />
      </SettingRow>
      <SettingRow name={t('setting.thinking.budget')} about={t('setting.thinking.budgetAbout')}>
        <Select
          label={t('setting.thinking.budget')}
          value={budget}
          options={known.map((value) => ({
            value,
            name:
              value === 'none'
                ? t('thinking.noBudget')
                : t('tokens', { count: Number(value), tokens: formats.exact(Number(value)) }),
          }))}
          onChange={(value) =>
            void set({ thinkingBudget: { ...thinkingBudget, tokens: value === 'none' ? null : Number(value) } })
          }
        />
      </SettingRow>
      <SettingRow name={t('setting.thinking.long')} about={t('setting.thinking.longAbout')}>
        <Switch
          label={t('setting.thinking.long')}
          checked={values.askLongThinking}
          onChange={(askLongThinking) => void set({ askLongThinking })}
        />
      </SettingRow>
      <SettingRow name={t('setting.thinking.show')}>
        <Segmented
          label={t('setting.thinking.show')}
          value={values.showThinking}
          options={shows.map((value) => ({ value, name: t(`showThinking.${value}`) }))}
          onChange={(showThinking) => void set({ showThinking })}
        />
      </SettingRow>
      <SettingRow name={t('setting.thinking.loops')} about={t('setting.thinking.loopsAbout')}>
        <Segmented
          label={t('setting.thinking.loops')}
          value={loopGuard.sensitivity}
          options={levels.map((value) => ({ value, name: t(`loopLevel.${value}`) }))}
          onChange={(sensitivity) => guard({ sensitivity })}
        />
      </SettingRow>
      <SettingRow name={t('setting.thinking.action')}>
        <Select
          label={t('setting.thinking.action')}
          width={190}
          value={loopGuard.action}
          options={actions.map((value) => ({ value, name: t(`loopAction.${value}`) }))}
          onChange={(action) => guard({ action })}
        />
      </SettingRow>
      <SettingRow name={t('setting.thinking.wait')} about={t('setting.thinking.waitAbout')}>
        <Select
          label={t('setting.thinking.wait')}
          value={String(loopGuard.waitSeconds)}
          options={[...new Set([...waits, String(loopGuard.waitSeconds)])].map((value) => ({
            value,
            name: value === '0' ? t('loopAction.wait') : formats.duration(Number(value) * 1000),
          }))}
          onChange={(value) => guard({ waitSeconds: Number(value) })}
        />
      </SettingRow>
      <SettingRow name={t('setting.thinking.answers')} about={t('setting.thinking.answersAbout')}>
        <Switch
          label={t('setting.thinking.answers')}
          checked={loopGuard.inAnswers}
          onChange={(inAnswers) => guard({ inAnswers })}
        />
      </SettingRow>
    </Section>
  );
}
