import { create } from 'zustand';
import {
  type CatalogueModel,
  canChat,
  type Download,
  type ExternalModel,
  type Failure,
  type FoundModel,
  failureOf,
  isWeaker,
  type Library,
  type Machine,
  type ModelDetails,
  type ModelEntry,
  type ModelId,
  type RemoteModel,
  type Shrinking,
  verdictOf,
} from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { t } from '../../i18n.ts';
import { useToasts } from '../../ui/toast.tsx';
import { useSettings } from '../settings.ts';
import { useShell } from '../shell.ts';
import { chatWith } from './chat-with.ts';
import { type Chosen, USUAL_CONTEXT } from './memory-fit.ts';

export type Tab = 'installed' | 'catalogue' | 'downloads' | 'remote';

/** The inspection of a repository: nothing is requested before the user wants it. */
export type Look =
  | { status: 'looking' }
  | { status: 'known'; model: RemoteModel }
  | { status: 'failed'; failure: Failure };

export type Finding =
  | { status: 'none' }
  | { status: 'searching' }
  | { status: 'found'; models: FoundModel[] }
  | { status: 'failed'; failure: Failure };

/** `name`: its display name; `references`: the repositories with its variants. */
export type Place = { id: string; name: string; references: string[] };

type ModelsStore = {
  tab: Tab;
  machine: Machine | null;
  catalogue: CatalogueModel[];
  downloads: Download[];
  /** The last model whose download finished. */
  arrived: ModelId | null;
  externalModels: ExternalModel[] | null;
  library: Library | null;
  /** The smaller version that is being made, or how it ended. */
  shrinking: Shrinking | null;
  installed: ModelId | null;
  details: ModelDetails | null;
  checking: Record<ModelId, number>;
  place: Place | null;
  variant: { reference: string; id: string } | null;
  looks: Record<string, Look>;
  finding: Finding;
  /** The source to search; null: the hub or its mirror. */
  source: 'modelscope' | 'folder' | null;
  /** Also shows models that do not run here. */
  all: boolean;
  /** For the whole page; a model with a shorter maximum is shown with that. */
  contextLength: number;
  load(): Promise<void>;
  loadLibrary(): Promise<void>;
  loadDetails(modelId: ModelId): Promise<void>;
  lookAgain(): Promise<void>;
  choose(place: Place): void;
  /** Inspects once; a failed inspection is repeated only on request (`again`). */
  look(reference: string, options?: { variant?: string; again?: boolean }): Promise<void>;
  find(text: string): Promise<void>;
};

/** The running search. */
let search = new AbortController();

/** Repositories that are being inspected. */
const inspections = new Map<string, Promise<void>>();

export const useModels = create<ModelsStore>()((set, get) => ({
  tab: 'installed',
  machine: null,
  catalogue: [],
  downloads: [],
  arrived: null,
  externalModels: null,
  library: null,
  shrinking: null,
  installed: null,
  details: null,
  checking: {},
  place: null,
  variant: null,
  looks: {},
  finding: { status: 'none' },
  source: null,
  all: false,
  contextLength: USUAL_CONTEXT,
  async load() {
    // Each is applied as it arrives: setting all together would overwrite newer events.
    await Promise.all([
      core.call('models.machine').then((machine) => set({ machine })),
      core.call('catalogue.list').then((catalogue) => set({ catalogue })),
      core.call('downloads.list').then((downloads) => set({ downloads })),
      core.call('library.state').then((library) => set({ library })),
      core.call('models.shrinking').then((shrinking) => set({ shrinking })),
    ]);
  },
  async loadLibrary() {
    set({ library: await core.call('library.state') });
  },
  async loadDetails(modelId) {
    // Known details are kept while they are reloaded.
    set(({ details }) => ({ installed: modelId, details: details?.modelId === modelId ? details : null }));
    const details = await core.call('models.details', { modelId }).catch(() => null);
    if (get().installed === modelId) set({ details });
  },
  async lookAgain() {
    set({ externalModels: await core.call('models.listExternal').catch(() => []) });
  },
  choose: (place) => set({ place, variant: null }),
  async look(reference, { variant, again = false } = {}) {
    // Concurrent callers share the same request.
    const running = inspections.get(reference);
    if (running) return running;
    const before = get().looks[reference];
    if (before?.status === 'known' && variant === undefined) return;
    if (before?.status === 'failed' && !again) return;
    const put = (look: Look) => set((state) => ({ looks: { ...state.looks, [reference]: look } }));
    if (before?.status !== 'known') put({ status: 'looking' });
    const inspection = core.call('models.inspectRemote', { reference, ...(variant !== undefined && { variant }) }).then(
      (model) => put({ status: 'known', model }),
      (error: unknown) => put({ status: 'failed', failure: failureOf(error) }),
    );
    inspections.set(reference, inspection);
    await inspection.finally(() => inspections.delete(reference));
  },
  async find(text) {
    const { source, all } = get();
    const searching = { status: 'searching' } as const;
    set({ finding: searching });
    const place = source === null ? {} : { source };
    // The previous search is obsolete: its requests are aborted.
    search.abort();
    search = new AbortController();
    const finding = await core.call('models.search', { text, all, ...place }, { signal: search.signal }).then(
      (models): Finding => ({ status: 'found', models }),
      (error: unknown): Finding => ({ status: 'failed', failure: failureOf(error) }),
    );
    // Another search began meanwhile: this result is outdated.
    set((state) => (state.finding === searching ? { finding } : {}));
  },
}));

/** What forecasts are based on: the context of the page, and the engine's type of keys and values. */
export const chosenContext = (): Chosen => ({
  contextLength: useModels.getState().contextLength,
  kvType: useSettings.getState().values.kvType,
});

export function useChosenContext(): Chosen {
  const contextLength = useModels((state) => state.contextLength);
  const kvType = useSettings((state) => state.values.kvType);
  return { contextLength, kvType };
}

export function listenToModels(): () => void {
  const stops = [
    core.on('downloads.changed', (downloads) => useModels.setState((state) => withArrival(state, { downloads }))),
    core.on('download.finished', (model) => {
      useModels.setState((state) => withArrival(state, { arrived: model.id }));
      tellFinished(model);
    }),
    core.on('model.shrinking', (shrinking) => {
      useModels.setState({ shrinking });
      if (shrinking !== null) tellMade(shrinking);
    }),
    core.on('library.changed', (library) => useModels.setState({ library })),
    core.on('machine.changed', (machine) => useModels.setState({ machine })),
    core.on('model.checking', ({ modelId, checked, total }) =>
      useModels.setState((state) => ({
        checking: { ...state.checking, [modelId]: total > 0 ? checked / total : 1 },
      })),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Who watched the last download to its end is shown what has come, in place of an empty list: in whichever order the page hears of
 *  its beginning and its end. */
export function withArrival(
  state: Pick<ModelsStore, 'tab' | 'downloads' | 'arrived'>,
  change: Partial<Pick<ModelsStore, 'tab' | 'downloads' | 'arrived'>>,
): Partial<ModelsStore> {
  const { tab, downloads, arrived } = { ...state, ...change };
  return tab === 'downloads' && downloads.length === 0 && arrived !== null
    ? { ...change, tab: 'installed', installed: arrived, arrived: null }
    : change;
}

/** Opens the page of an installed model, for models that cannot chat. */
export function showInstalled(modelId: ModelId): void {
  useModels.setState({ tab: 'installed', installed: modelId });
  useShell.getState().go({ kind: 'models' });
}

/** Notifies that a model is ready, with a way to use it. */
function tellFinished(model: ModelEntry) {
  if (!canChat(model)) {
    useToasts.getState().show({
      text: t('models.arrived', { name: model.name }),
      action: t('models.showImport'),
      onAction: () => showInstalled(model.id),
    });
    return;
  }
  useToasts.getState().show({
    text: t('models.arrived', { name: model.name }),
    action: t('models.useNow'),
    onAction: () => chatWith(model.id),
  });
}

/** Progress of all downloads together; null if there is none. */
export function shareOf(downloads: readonly Download[]): number | null {
  const total = downloads.reduce((sum, item) => sum + item.total, 0);
  return total > 0 ? downloads.reduce((sum, item) => sum + item.done, 0) / total : null;
}

/** The same for a smaller version, also if it could not be made, unless the page already shows it. */
function tellMade(shrinking: Shrinking) {
  if (useShell.getState().place.kind === 'models' && useModels.getState().tab === 'installed') return;
  const { show } = useToasts.getState();
  const { status, name, modelId } = shrinking;
  if (status === 'failed') {
    show({
      text: t('models.smaller.failed', { name }),
      action: t('models.showImport'),
      onAction: () => showInstalled(modelId),
    });
  }
  if (status !== 'done') return;
  const { madeId, quality } = shrinking;
  const verdict = quality?.measured && verdictOf(quality.measured.nats);
  if (verdict && isWeaker(verdict)) {
    show({
      text: t('models.smaller.doneWeaker', { name }),
      action: t('models.smaller.show'),
      onAction: () => showInstalled(madeId),
    });
  } else show({ text: t('models.arrived', { name }), action: t('models.useNow'), onAction: () => chatWith(madeId) });
}
