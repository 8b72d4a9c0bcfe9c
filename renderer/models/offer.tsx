import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type CatalogueModel,
  failureOf,
  type Machine,
  type RemoteModel,
  type Variant,
} from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { useSettings } from '../settings/store.ts';
import { Button } from '../ui/button.tsx';
import { Segmented } from '../ui/choice.tsx';
import { Notice } from '../ui/notice.tsx';
import { ContextSlider } from './context-slider.tsx';
import { hubOf } from './hub.ts';
import { LookFailed } from './look-failed.tsx';
import { MemoryBar } from './memory-bar.tsx';
import { FILTERS, type FormRow, fitOf, type KvType, likelyDescription, suggestedVariant } from './shape.ts';
import { chosenContext, type Place, useModels } from './store.ts';
import { Variants } from './variants.tsx';

/** One model before it is here: memory at the chosen context, its forms, and the download. */
export function Offer({ place, known, machine }: { place: Place; known: CatalogueModel | null; machine: Machine }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { looks, variant, contextStep, kvType } = useModels();
  const { look } = useModels.getState();
  const asked = useSettings((state) => state.values.askHub);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (asked) for (const reference of place.references) void look(reference);
  }, [asked, place, look]);

  const chosen = chosenContext({ contextStep, kvType });
  const remotes = place.references.flatMap((reference): RemoteModel[] => {
    const found = looks[reference];
    return found?.at === 'known' ? [found.model] : [];
  });
  const rows = remotes
    .flatMap((remote): FormRow[] => remote.variants.map((one) => ({ reference: remote.reference, variant: one })))
    .toSorted((a, b) => b.variant.bytes - a.variant.bytes);
  const suggested = suggestedVariant(
    rows.map((row) => row.variant),
    machine,
    chosen,
  );
  const current =
    rows.find((row) => row.reference === variant?.reference && row.variant.id === variant.id) ??
    rows.find((row) => row.variant === suggested) ??
    null;
  const description = current?.variant.description ?? (known && likelyDescription(known));
  const fit = description && fitOf(description, machine, chosen);
  const failed = place.references.flatMap((reference) => {
    const found = looks[reference];
    return found?.at === 'failed' ? [found.failure] : [];
  });
  const looking = place.references.some((reference) => looks[reference]?.at === 'looking');
  const download = async () => {
    if (!current) return;
    setProblem(null);
    const { reference } = current;
    try {
      await core.call('downloads.start', {
        reference,
        variant: current.variant.id,
        name: nameOf(place, current.variant),
      });
    } catch (error) {
      const failure = failureOf(error);
      setProblem(`${t(`errors.${failure.code}.what`)}. ${failure.message}`);
    }
  };
  return (
    <div className="min-w-0 flex-1 overflow-y-auto px-7 py-6">
      <div className="flex items-start gap-4">
        <div className="min-w-0 flex-1">
          <h2 className="text-xl font-semibold tracking-tight">
            <bdi className="wrap-anywhere">{place.name}</bdi>
          </h2>
          <p className="mt-1 text-fg-2">
            {known
              ? [
                  known.maker,
                  known.licence,
                  ...FILTERS.filter((one) => known.abilities.includes(one)).map((one) => t(`models.ability.${one}`)),
                ].join(', ')
              : t('models.unknown')}
          </p>
        </div>
        {current && (
          <Button
            large
            kind="primary"
            icon="download"
            disabled={!current.variant.description.supported}
            onClick={() => void download()}
          >
            {t('models.download', { size: formats.fileSize(current.variant.bytes) })}
          </Button>
        )}
      </div>
      {problem && (
        <div className="mt-4">
          <Notice alert tone="bad" title={problem} />
        </div>
      )}
      {fit && (
        <>
          <div className="mt-6 flex items-start gap-6">
            <div className="min-w-0 flex-1">
              <ContextSlider title={t('models.ifContext')} />
            </div>
            <div className="flex-none">
              <div className="mb-2 font-semibold">{t('models.storedAs')}</div>
              <Segmented<KvType>
                label={t('models.storedAs')}
                value={kvType}
                options={[
                  { value: 'f16', name: t('models.kv.f16') },
                  { value: 'q8', name: t('models.kv.q8') },
                ]}
                onChange={(next) => useModels.setState({ kvType: next })}
              />
            </div>
          </div>
          <div className="mt-4">
            <MemoryBar
              fit={fit}
              limit={machine.limitBytes}
              note={
                current
                  ? t('models.totalAt', { memory: formats.memory(fit.total), type: current.variant.label })
                  : t('models.totalAbout', { memory: formats.memory(fit.total) })
              }
            />
          </div>
        </>
      )}
      {current?.variant.exact && !current.variant.description.supported && (
        <div className="mt-4">
          <Notice tone="warn" title={t('errors.model-unsupported.what')}>
            {current.variant.description.problems.slice(0, 3).join(' ')}
          </Notice>
        </div>
      )}
      {rows.length > 0 && (
        <Variants rows={rows} current={current} suggested={suggested} machine={machine} chosen={chosen} />
      )}
      {looking && <p className="mt-5 animate-breathe text-fg-2">{t('models.looking')}</p>}
      {!asked && <Ask />}
      {rows.length === 0 && !looking && failed[0] && (
        <LookFailed failure={failed[0]} onAgain={() => place.references.forEach((reference) => void look(reference))} />
      )}
    </div>
  );
}

/** Two forms of one model must not have one name. */
const nameOf = (place: Place, variant: Variant): string =>
  variant.label === '' ? place.name : `${place.name} ${variant.label}`;

/** Said once, before the first time anything is asked over the network. */
function Ask() {
  const { t } = useTranslation();
  const { values, set } = useSettings();
  const hub = hubOf(values.hubMirror);
  return (
    <div className="mt-6 rounded-lg bg-sunken px-4 py-3.5 hairline-soft">
      <p className="font-semibold">{t('models.ask.title', { hub })}</p>
      <p className="mt-0.5 text-fg-2">{t('models.ask.about')}</p>
      <Button className="mt-3" onClick={() => void set({ askHub: true })}>
        {t('models.ask.yes', { hub })}
      </Button>
    </div>
  );
}
