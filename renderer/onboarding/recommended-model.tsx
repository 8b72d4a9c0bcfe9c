import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type CatalogueModel, failureOf, type Machine } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useFormats } from '../i18n.ts';
import { sentenceOf } from '../sentences.ts';
import { useOnGpu } from '../stores/engine.ts';
import { hubOf } from '../stores/models/hub.ts';
import { bestFor, fitOf, leastBytes, likelyDescription, USUAL_CONTEXT } from '../stores/models/memory-fit.ts';
import { useModels } from '../stores/models/store.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Fact } from './fact.tsx';
import { WritingSpeed } from './writing-speed.tsx';

type Pick = { model: CatalogueModel; machine: Machine };

/** One model of the catalogue for this machine, decided when the cards are shown: a later change would move the others under
 *  the pointer. Null if nothing better fits. */
export function useRecommendedModel(shown: boolean): Pick | null {
  const { catalogue, machine } = useModels();
  const gpu = useOnGpu();
  const [pick, setPick] = useState<Pick | null | undefined>(undefined);
  if (shown && pick === undefined) {
    const model = machine && bestFor(catalogue, machine, gpu);
    setPick(model ? { model, machine } : null);
  }
  return pick ?? null;
}

export function RecommendedFacts({ model, machine }: { model: CatalogueModel; machine: Machine }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const hub = hubOf(useSettings((state) => state.values.hubEndpoint));
  const fit = fitOf(likelyDescription(model), machine, { contextLength: USUAL_CONTEXT, kvType: 'f16' });
  return (
    <>
      <Fact icon="download">{t('onboarding.pickSize', { size: formats.fileSize(leastBytes(model)) })}</Fact>
      <WritingSpeed description={likelyDescription(model)} />
      <Fact icon="engine">
        {t('onboarding.pickMemory', {
          memory: formats.memoryFigure(fit.total),
          limit: formats.memory(machine.limitBytes),
        })}
      </Fact>
      <Fact icon="privacy">{t('onboarding.pickAsks', { hub })}</Fact>
    </>
  );
}

/** Downloads the recommended model; the chat begins with the starter meanwhile. Without a network, the card says so. */
type Props = { model: CatalogueModel; suggested: boolean; begin: () => void };

export function GetRecommendedModel({ model, suggested, begin }: Props) {
  const { t } = useTranslation();
  const formats = useFormats();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const open = model.forms.filter((one) => !one.gated);
  const form = open.find((one) => one.kind === 'gguf') ?? open.find((one) => one.kind === 'mlx');
  const get = async () => {
    if (!form) return;
    setBusy(true);
    setProblem(null);
    try {
      await core.call('downloads.start', { reference: form.repository, name: model.name });
      begin();
    } catch (error) {
      const failure = failureOf(error);
      setProblem(
        failure.code === 'network'
          ? t('onboarding.pickFails', { size: formats.fileSize(leastBytes(model)) })
          : sentenceOf(failure),
      );
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {problem && (
        <p role="alert" className="mb-2 text-xs text-bad-text wrap-anywhere">
          {problem}
        </p>
      )}
      <Button
        large
        className="w-full"
        {...(suggested && { kind: 'primary', 'data-suggested': true })}
        disabled={busy}
        onClick={() => void get()}
      >
        {t('onboarding.pickGet')}
      </Button>
    </>
  );
}
