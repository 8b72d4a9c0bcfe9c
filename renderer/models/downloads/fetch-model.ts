import { create } from 'zustand';
import { type Failure, failureOf, LonghandError, type RemoteModel, type Variant } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { type FormRow, suggestedVariant } from '../../stores/models/memory-fit.ts';
import { chosenContext, type Look, type Place, useModels } from '../../stores/models/store.ts';
import { useSettings } from '../../stores/settings.ts';

//  One click downloads a model: the first asks for consent to contact the hub, later ones start at once.

type Fetching = {
  /** The download waiting for consent to contact the hub. */
  consent: { place: Place; row: FormRow | null } | null;
  /** Ids of places that are being looked up. */
  busy: ReadonlySet<string>;
  problems: Readonly<Record<string, Failure>>;
};

export const useFetching = create<Fetching>()(() => ({ consent: null, busy: new Set(), problems: {} }));

/** `row`: the chosen variant; null: the suggested one. */
export async function fetchModel(place: Place, row: FormRow | null = null): Promise<void> {
  if (!useSettings.getState().values.hubConsent) return useFetching.setState({ consent: { place, row } });
  if (useFetching.getState().busy.has(place.id)) return;
  useFetching.setState(({ busy, problems }) => {
    const { [place.id]: _, ...others } = problems;
    return { consent: null, busy: new Set([...busy, place.id]), problems: others };
  });
  try {
    const { reference, variant } = row ?? (await suggestedRow(place));
    await core.call('downloads.start', { reference, variant: variant.id, name: nameOf(place, variant) });
  } catch (error) {
    const failure = failureOf(error);
    useFetching.setState(({ problems }) => ({ problems: { ...problems, [place.id]: failure } }));
  } finally {
    useFetching.setState(({ busy }) => ({ busy: new Set([...busy].filter((id) => id !== place.id)) }));
  }
}

export const withdraw = (): void => useFetching.setState({ consent: null });

/** Records the consent and starts the waiting download. */
export async function agree(): Promise<void> {
  const { consent } = useFetching.getState();
  withdraw();
  await useSettings.getState().set({ hubConsent: true });
  if (consent) await fetchModel(consent.place, consent.row);
}

/** All known variants of a model, largest first. */
export function rowsOf(place: Place, looks: Readonly<Record<string, Look>>): FormRow[] {
  return place.references
    .flatMap((reference): RemoteModel[] => {
      const found = looks[reference];
      return found?.status === 'known' ? [found.model] : [];
    })
    .flatMap(({ reference, variants }) => variants.map((variant): FormRow => ({ reference, variant })))
    .toSorted((a, b) => b.variant.bytes - a.variant.bytes);
}

export function suggestedOf(rows: readonly FormRow[]): FormRow | null {
  const { machine } = useModels.getState();
  if (!machine) return rows.at(-1) ?? null;
  const variants = rows.map(({ variant }) => variant);
  const suggested = suggestedVariant(variants, machine, chosenContext());
  return rows.find(({ variant }) => variant === suggested) ?? null;
}

async function suggestedRow(place: Place): Promise<FormRow> {
  const { look } = useModels.getState();
  await Promise.all(place.references.map((reference) => look(reference, { again: true })));
  const { looks } = useModels.getState();
  const found = suggestedOf(rowsOf(place, looks));
  if (found) return found;
  const failed = place.references.map((reference) => looks[reference]).find((look) => look?.status === 'failed');
  const { code, message, details } = failed?.status === 'failed' ? failed.failure : nothingRuns(place);
  throw new LonghandError(code, message, details ? { details } : {});
}

const nothingRuns = ({ name }: Place): Failure => ({
  code: 'not-found',
  message: `[models] ${name} has no form that runs`,
  details: { reason: 'no-model' },
});

/** Two variants of one model must not share a name. */
export const nameOf = (place: Place, variant: Variant): string =>
  variant.label === '' ? place.name : `${place.name} ${variant.label}`;
