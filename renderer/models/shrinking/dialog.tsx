import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf, type ModelEntry, type ShrinkPlan } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { Problem } from '../../parts/problem.tsx';
import { Button } from '../../ui/button.tsx';
import { Offers, Segmented, Select } from '../../ui/choice.tsx';
import { SettingRow } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { type Choice, choiceOf, USUAL, type Wish } from './forms.ts';
import { Outlook } from './outlook.tsx';

type Looked = { status: 'looking' } | { status: 'known'; plan: ShrinkPlan } | { status: 'failed'; failure: Failure };

/** Asks what a smaller version should be like, and says what it will take before anything is made. */
export function ShrinkDialog({ model, onClose }: { model: ModelEntry; onClose: () => void }) {
  const { t } = useTranslation();
  const [looked, setLooked] = useState<Looked>({ status: 'looking' });
  const [wish, setWish] = useState(USUAL);
  const [starting, setStarting] = useState(false);
  const [problem, setProblem] = useState<Failure | null>(null);
  useEffect(() => {
    const left = new AbortController();
    core.call('models.shrinkPlan', { modelId: model.id }, { signal: left.signal }).then(
      (plan) => setLooked({ status: 'known', plan }),
      (error) => !left.signal.aborted && setLooked({ status: 'failed', failure: failureOf(error) }),
    );
    return () => left.abort();
  }, [model.id]);
  const plan = looked.status === 'known' ? looked.plan : null;
  const choice = plan && choiceOf(plan, wish);
  const fits = plan !== null && choice !== null && choice.bytes < plan.free;
  const start = async () => {
    if (!plan || !choice) return;
    setStarting(true);
    setProblem(null);
    const { form, method } = choice;
    try {
      await core.call('models.shrink', { modelId: model.id, form, method, again: plan.quantised });
      onClose();
    } catch (error) {
      setProblem(failureOf(error));
      setStarting(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('models.smaller.title', { name: model.name })}
      description={t('models.smaller.about')}
      width={620}
      footer={
        <>
          <span className="min-w-0 flex-1">{problem && <Problem failure={problem} />}</span>
          <Button large onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" disabled={!fits || starting} onClick={() => void start()}>
            {t(starting ? 'models.smaller.starting' : plan?.quantised ? 'models.smaller.again' : 'models.smaller.make')}
          </Button>
        </>
      }
    >
      <div className="min-h-24">
        {looked.status === 'looking' && (
          <p role="status" className="text-fg-2">
            {t('models.smaller.looking')}
          </p>
        )}
        {looked.status === 'failed' && <Problem failure={looked.failure} />}
        {plan && !choice && <p className="text-fg-2">{t('models.smaller.none')}</p>}
        {plan && choice && (
          <>
            {plan.quantised && (
              <div className="mb-4">
                <Notice tone="warn" title={t('models.smaller.quantised')}>
                  {t('models.smaller.quantisedAbout')}
                </Notice>
              </div>
            )}
            <Outlook model={model} plan={plan} bytes={choice.bytes} />
            <Form choice={choice} onChange={(change) => setWish({ ...wish, ...change })} />
          </>
        )}
      </div>
    </Dialog>
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
