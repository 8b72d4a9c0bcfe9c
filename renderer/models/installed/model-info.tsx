import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type ModelDetails, type ModelEntry, takesVisionFile } from '../../../app/protocol/index.ts';
import { reveal } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { typeOf } from '../../stores/models/memory-fit.ts';
import { speedOf } from '../../stores/models/speeds.ts';
import { useModels } from '../../stores/models/store.ts';
import { usePerformance } from '../../stores/performance/store.ts';
import { Button } from '../../ui/button.tsx';

type InfoProps = { model: ModelEntry; details: ModelDetails | null; onConfigure: () => void };

/** Facts about an installed model. */
export function ModelInfo({ model, details, onConfigure }: InfoProps) {
  const { t } = useTranslation();
  const formats = useFormats();
  const show = reveal();
  const speed = speedOf(
    model.name,
    usePerformance((state) => state.runs),
  );
  const { description, path } = model;
  const licence = useModels((state) => licenceOf(state.catalogue, details));
  return (
    <dl className="mt-5 border-t border-line pt-4">
      {description && (
        <Fact name={t('models.fact.format')}>
          {[t(`models.form.${description.container}`), typeOf(description)].filter(Boolean).join(', ')}
        </Fact>
      )}
      {description && (
        <Fact name={t('models.fact.parameters')}>
          {description.parameters < 1e9
            ? t('models.millions', { count: formats.exact(Math.round(description.parameters / 1e6)) })
            : t('models.billions', { count: formats.billions(description.parameters) })}
        </Fact>
      )}
      {description?.vision ? (
        <Fact name={t('models.fact.pictures')}>{t('models.seesPictures')}</Fact>
      ) : (
        takesVisionFile(model) && (
          <Fact name={t('models.fact.pictures')}>
            <Button kind="link" className="-me-2" onClick={onConfigure}>
              {t('models.needsVision')}
            </Button>
          </Fact>
        )
      )}
      {speed && (
        <Fact name={t('models.fact.fastest')}>
          {t('models.fastestOn', { speed: formats.speed(speed.fastest), day: formats.day(speed.at) })}
        </Fact>
      )}
      {details?.origin && (
        <Fact name={t(details.ownership === 'made' ? 'models.fact.madeFrom' : 'models.fact.origin')}>
          <bdi className="wrap-anywhere">{details.origin.repository}</bdi>
        </Fact>
      )}
      {licence && <Fact name={t('models.fact.licence')}>{licence}</Fact>}
      {details?.checkedAt && (
        <Fact name={t('models.fact.checked')}>{t('models.checkedOn', { day: formats.day(details.checkedAt) })}</Fact>
      )}
      {model.lastUsedAt && <Fact name={t('models.fact.used')}>{formats.ago(model.lastUsedAt, Date.now())}</Fact>}
      {path && (
        <Fact name={t('models.fact.file')}>
          {show ? (
            <Button kind="link" className="-me-2" onClick={() => show(path)}>
              {t('models.show')}
            </Button>
          ) : (
            <span className="text-xs wrap-anywhere" dir="ltr">
              {path}
            </span>
          )}
        </Fact>
      )}
    </dl>
  );
}

const licenceOf = (
  catalogue: readonly { licence: string; forms: { repository: string }[] }[],
  details: ModelDetails | null,
): string | null =>
  catalogue.find(({ forms }) => forms.some(({ repository }) => repository === details?.origin?.repository))?.licence ??
  null;

export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex min-h-7 items-baseline justify-between gap-4">
    <dt className="flex-none text-fg-2">{name}</dt>
    <dd className="min-w-0 text-end tabular-nums">{children}</dd>
  </div>
);
