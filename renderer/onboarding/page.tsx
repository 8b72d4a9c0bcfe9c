import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ASSISTANT, builtInModel, failureOf, STARTER } from '../../app/protocol/index.ts';
import { isMac } from '../bridge.ts';
import { focusComposer } from '../lib/focus.ts';
import { useEngine } from '../stores/engine.ts';
import { purposeOf } from '../stores/models/memory-fit.ts';
import { useModels } from '../stores/models/store.ts';
import { useSettings } from '../stores/settings.ts';
import { Button } from '../ui/button.tsx';
import { Icon, Mark } from '../ui/icon.tsx';
import { ExistingModels, FoundFacts } from './existing-models.tsx';
import { Fact } from './fact.tsx';
import { Machine } from './machine.tsx';
import { GetRecommendedModel, RecommendedFacts, useRecommendedModel } from './recommended-model.tsx';
import { StarterFacts } from './starter-facts.tsx';

/** How long the window waits for the content of the cards, so that no card moves under the pointer. */
const patienceMs = 2500;

/** Between two attempts to reach a restarting core. */
const AGAIN_MS = 500;

/** The first window: start at once with the built-in model, or with one already on this computer. */
export function Onboarding() {
  const { t } = useTranslation();
  const shipped = useEngine((state) => builtInModel(state.models));
  const patient = usePatience(patienceMs);
  const computed = useEngine((state) => state.devices.length > 0);
  const { externalModels: external, machine } = useModels();
  const { lookAgain } = useModels.getState();
  useEffect(() => void lookAgain(), [lookAgain]);
  const known = machine !== null && external !== null && computed && shipped !== null;
  const shown = known || !patient;
  const pick = useRecommendedModel(shown);
  const found = (external ?? []).length > 0;
  if (!shown) return <main aria-busy className="h-full bg-sidebar" />;
  // The assistant answers at once; the starter shows no more than that everything works.
  const first = shipped?.id === ASSISTANT || !pick;
  const builtIn = (
    <Place
      name={shipped?.name ?? t('onboarding.starter')}
      about={t(shipped?.id === STARTER ? 'onboarding.starterAbout' : 'onboarding.assistantAbout')}
      facts={<StarterFacts model={shipped} />}
    >
      <Button
        large
        className="w-full"
        {...(first && { kind: 'primary', 'data-suggested': true })}
        onClick={() => void begin()}
      >
        {t('onboarding.start')}
      </Button>
    </Place>
  );
  return (
    <main className="flex h-full flex-col overflow-y-auto bg-sidebar">
      <div className="drag-region h-bar flex-none" />
      <div className="flex flex-1 flex-col items-center justify-center px-6 pb-11">
        <div className="flex flex-col items-center text-center">
          <Mark />
          <h1 className="mt-4 text-2xl font-semibold tracking-tight">{t('onboarding.title')}</h1>
          <p className="mt-1.5 text-lg text-fg-2">{t('onboarding.about')}</p>
        </div>
        <div className={`mt-9 flex w-full ${pick ? 'max-w-235' : 'max-w-154'} gap-4 max-md:flex-col`}>
          {first && builtIn}
          {pick && (
            <Place
              name={pick.model.name}
              about={t('onboarding.pickAbout', { purpose: t(`models.purpose.${purposeOf(pick.model)}`) })}
              facts={<RecommendedFacts model={pick.model} machine={pick.machine} />}
            >
              <GetRecommendedModel model={pick.model} suggested={!first} begin={() => void begin()} />
            </Place>
          )}
          {!first && builtIn}
          <Place
            name={found ? t('onboarding.found') : t('onboarding.own')}
            about={found ? t('onboarding.foundAbout') : t('onboarding.ownAbout')}
            facts={found ? <FoundFacts /> : <Fact icon="folder">{t('onboarding.formats')}</Fact>}
          >
            <ExistingModels found={found} begin={() => void begin()} />
          </Place>
        </div>
        <Machine />
      </div>
      <div className="flex h-14 flex-none items-center justify-center gap-2">
        <Icon name="privacy" className="text-fg-3" />
        <span className="text-fg-2">{isMac() ? t('onboarding.privateMac') : t('onboarding.private')}</span>
      </div>
    </main>
  );
}

/** Shows the chats once the choice is stored, so that a start after a crash does not lead back here. If nothing can be
 *  written, they are shown this time only; if the core is gone, the request is repeated when it is back. */
async function begin(): Promise<void> {
  try {
    await useSettings.getState().keep({ onboarded: true });
  } catch (error) {
    if (failureOf(error).code === 'core-lost') {
      setTimeout(() => void begin(), AGAIN_MS);
      return;
    }
    useSettings.getState().pretend({ onboarded: true });
  }
  focusComposer();
}

/** True for this long after the first render. */
function usePatience(ms: number): boolean {
  const [patient, setPatient] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setPatient(false), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return patient;
}

function Place({
  name,
  about,
  facts,
  children,
}: {
  name: string;
  about: string;
  facts: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={name} className="flex min-w-0 flex-1 flex-col rounded-lg bg-card px-3 py-5 shadow-1 lg:px-5">
      <h2 className="text-md font-semibold">{name}</h2>
      <p className="mt-1 text-fg-2">{about}</p>
      <ul className="mt-4 mb-5 flex flex-1 flex-col gap-2">{facts}</ul>
      {children}
    </section>
  );
}
