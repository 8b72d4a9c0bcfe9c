import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { kvBytesPerToken, type LatentPlan, type ModelEntry } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { useChosenContext } from '../../stores/models/store.ts';
import { Select } from '../../ui/choice.tsx';
import { SettingRow } from '../../ui/field.tsx';
import { ContextSlider } from '../memory/context-slider.tsx';
import {
  type LatentChoice,
  type LatentWish,
  latentChoiceOf,
  shareOf,
  USUAL_LATENT,
  withLatent,
} from './latent-choice.ts';
import { Outlook } from './outlook.tsx';
import { PlanDialog } from './plan-dialog.tsx';

/** Asks how much memory the context of a model may take, and says what that will come to before anything is made. */
export function LatentDialog({ model, onClose }: { model: ModelEntry; onClose: () => void }) {
  const { t } = useTranslation();
  const [wish, setWish] = useState(USUAL_LATENT);
  return (
    <PlanDialog
      title={t('models.latent.title', { name: model.name })}
      about={t('models.latent.about')}
      look={(signal) => core.call('models.latentPlan', { modelId: model.id }, { signal })}
      make={(plan) => {
        const choice = latentChoiceOf(plan, wish);
        if (!choice || choice.size.weightBytes >= plan.free) return null;
        return () => core.call('models.convert', { modelId: model.id, form: choice.form });
      }}
      button={() => t('models.latent.make')}
      onClose={onClose}
    >
      {(plan) => {
        const choice = latentChoiceOf(plan, wish);
        if (!choice) return <p className="text-fg-2">{t('models.latent.none')}</p>;
        return (
          <>
            <Forecast model={model} plan={plan} choice={choice} />
            <Form model={model} plan={plan} choice={choice} onChange={(change) => setWish({ ...wish, ...change })} />
          </>
        );
      }}
    </PlanDialog>
  );
}

type PartProps = { model: ModelEntry; plan: LatentPlan; choice: LatentChoice };

/** Bytes that the context takes at the length chosen on the page. */
function useContextBytes({ description }: ModelEntry) {
  const { contextLength, kvType } = useChosenContext();
  return (size?: LatentChoice['size']): number => {
    if (!description) return 0;
    const tokens = Math.min(contextLength, description.contextLength);
    return tokens * kvBytesPerToken(size ? withLatent(description, size) : description, kvType);
  };
}

function Forecast({ model, plan, choice }: PartProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const contextBytes = useContextBytes(model);
  return (
    <Outlook
      after={model.description && withLatent(model.description, choice.size)}
      bytes={choice.size.weightBytes}
      free={plan.free}
      what={t('models.part.context')}
    >
      <span className="font-semibold">{formats.memory(contextBytes(choice.size))}</span>{' '}
      {t('models.smaller.insteadOf', { size: formats.memory(contextBytes()) })}
    </Outlook>
  );
}

function Form({ model, plan, choice, onChange }: PartProps & { onChange: (change: Partial<LatentWish>) => void }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const contextBytes = useContextBytes(model);
  const { form, size, sizes } = choice;
  return (
    <>
      {model.description && (
        <div className="pt-3 pb-4">
          <ContextSlider title={t('models.column.context')} model={model.description} />
        </div>
      )}
      <div className="border-t border-line">
        <div className="-mx-4">
          <SettingRow name={t('models.latent.target')} about={t('models.latent.targetAbout')}>
            <Select
              label={t('models.latent.target')}
              width={180}
              value={String(size.contextBytesPerToken)}
              options={sizes.map((one) => ({
                value: String(one.contextBytesPerToken),
                name: t('models.latent.targetOf', {
                  share: formats.percent(shareOf(plan, one)),
                  size: formats.memory(contextBytes(one)),
                }),
              }))}
              onChange={(text) => {
                const found = sizes.find(({ contextBytesPerToken }) => String(contextBytesPerToken) === text);
                if (found) onChange({ share: shareOf(plan, found) });
              }}
            />
          </SettingRow>
        </div>
      </div>
      <details className="mt-1 border-t border-line pt-3 pb-2">
        <summary className="cursor-pointer font-medium">{t('models.latent.advanced')}</summary>
        <div className="-mx-4 mt-1">
          <SettingRow name={t('models.latent.pairs')} about={t('models.latent.pairsAbout')}>
            <Select
              label={t('models.latent.pairs')}
              width={180}
              value={String(form.pairs)}
              options={choice.pairs.map((count) => ({
                value: String(count),
                name: t('models.latent.pairsOf', { kept: count, all: plan.allPairs }),
              }))}
              onChange={(text) => onChange({ pairs: Number(text) })}
            />
          </SettingRow>
          <SettingRow name={t('models.latent.rope')} about={t(`models.latent.ropeAbout.${form.rope}`)}>
            <Select
              label={t('models.latent.rope')}
              width={180}
              value={form.rope}
              options={choice.ropes.map((value) => ({ value, name: t(`models.latent.ropeName.${value}`) }))}
              onChange={(rope) => onChange({ rope })}
            />
          </SettingRow>
          <SettingRow name={t('models.latent.svd')} about={t(`models.latent.svdAbout.${form.svd}`)}>
            <Select
              label={t('models.latent.svd')}
              width={180}
              value={form.svd}
              options={choice.svds.map((value) => ({ value, name: t(`models.latent.svdName.${value}`) }))}
              onChange={(svd) => onChange({ svd })}
            />
          </SettingRow>
          <SettingRow name={t('models.latent.rank')} about={t('models.latent.rankAbout')}>
            <span className="tabular-nums">{t('models.latent.rankOf', { rank: formats.exact(form.rank) })}</span>
          </SettingRow>
        </div>
      </details>
    </>
  );
}
