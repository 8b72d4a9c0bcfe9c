import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Offers, Segmented, Select } from '../../ui/choice.tsx';
import { SettingRow } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { type Choice, choiceOf, shrunk, USUAL, type Wish } from './forms.ts';
import { Outlook } from './outlook.tsx';
import { PlanDialog } from './plan-dialog.tsx';

/** Asks what a smaller version should be like, and says what it will take before anything is made. */
export function ShrinkDialog({ model, onClose }: { model: ModelEntry; onClose: () => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [wish, setWish] = useState(USUAL);
  return (
    <PlanDialog
      title={t('models.smaller.title', { name: model.name })}
      about={t('models.smaller.about')}
      look={(signal) => core.call('models.shrinkPlan', { modelId: model.id }, { signal })}
      make={(plan) => {
        const choice = choiceOf(plan, wish);
        if (!choice || choice.bytes >= plan.free) return null;
        const { form, method } = choice;
        return () => core.call('models.shrink', { modelId: model.id, form, method, again: plan.quantised });
      }}
      button={(plan) => t(plan?.quantised ? 'models.smaller.again' : 'models.smaller.make')}
      onClose={onClose}
    >
      {(plan) => {
        const choice = choiceOf(plan, wish);
        if (!choice) return <p className="text-fg-2">{t('models.smaller.none')}</p>;
        return (
          <>
            {plan.quantised && (
              <div className="mb-4">
                <Notice tone="warn" title={t('models.smaller.quantised')}>
                  {t('models.smaller.quantisedAbout')}
                </Notice>
              </div>
            )}
            <Outlook
              after={model.description && shrunk(model.description, choice.bytes)}
              bytes={choice.bytes}
              free={plan.free}
              what={t('models.column.size')}
            >
              <span className="font-semibold">{formats.fileSize(choice.bytes)}</span>{' '}
              {t('models.smaller.insteadOf', { size: formats.fileSize(plan.bytes) })}
            </Outlook>
            <Form choice={choice} onChange={(change) => setWish({ ...wish, ...change })} />
          </>
        );
      }}
    </PlanDialog>
  );
}

function Form({ choice, onChange }: { choice: Choice; onChange: (change: Partial<Wish>) => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { form, method } = choice;
  const named = <Value extends string | number>(values: readonly Value[], text: string) =>
    values.find((value) => String(value) === text);
  return (
    <>
      <div className="-mx-4">
        <SettingRow name={t('models.smaller.format')} about={t(`models.smaller.formatAbout.${form.format}`)}>
          <Segmented
            label={t('models.smaller.format')}
            value={form.format}
            options={choice.formats.map((value) => ({ value, name: t(`models.form.${value}`) }))}
            onChange={(format) => onChange({ format })}
          />
        </SettingRow>
        <SettingRow name={t('models.smaller.bits')} about={t('models.smaller.bitsAbout')}>
          {form.format === 'mlx' ? (
            <Select
              label={t('models.smaller.bits')}
              width={180}
              value={String(form.bits)}
              options={choice.bits.map(({ value, bytes }) => ({
                value: String(value),
                name: t('models.smaller.bitsOf', { bits: value, size: formats.fileSize(bytes) }),
              }))}
              onChange={(text) =>
                onChange({
                  bits:
                    named(
                      choice.bits.map(({ value }) => value),
                      text,
                    ) ?? form.bits,
                })
              }
            />
          ) : (
            <Select
              label={t('models.smaller.bits')}
              width={180}
              value={form.type}
              options={choice.types.map(({ value, bytes }) => ({
                value,
                name: t('models.smaller.typeOf', { type: value, size: formats.fileSize(bytes) }),
              }))}
              onChange={(type) => onChange({ type })}
            />
          )}
        </SettingRow>
        {form.format === 'mlx' && (
          <SettingRow name={t('models.smaller.group')} about={t('models.smaller.groupAbout')}>
            <Select
              label={t('models.smaller.group')}
              width={180}
              value={String(form.group)}
              options={choice.groups.map((value) => ({
                value: String(value),
                name: t('models.smaller.groupOf', { weights: value }),
              }))}
              onChange={(text) => onChange({ group: named(choice.groups, text) ?? form.group })}
            />
          </SettingRow>
        )}
      </div>
      <h3 className="mt-2 mb-2 border-t border-line pt-4 font-medium">{t('models.smaller.method')}</h3>
      <Offers
        label={t('models.smaller.method')}
        value={method}
        offers={choice.methods.map((value, at) => ({
          value,
          name: t(`models.smaller.methodName.${value}`),
          about: t(`models.smaller.methodAbout.${value}`),
          ...(at === 0 && choice.methods.length > 1 && { tag: { tone: 'ok' as const, text: t('models.suggested') } }),
        }))}
        onChange={(next) => onChange({ method: next })}
      />
    </>
  );
}
