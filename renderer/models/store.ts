import { create } from 'zustand';
import {
  type Adoptable,
  type CatalogueModel,
  type Download,
  type Failure,
  type FoundModel,
  failureOf,
  type Library,
  type Machine,
  type ModelDetails,
  type ModelEntry,
  type ModelId,
  type RemoteModel,
} from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { t } from '../i18n.ts';
import { useToasts } from '../ui/toast.tsx';
import { chatWith } from './chat-with.ts';
import { CONTEXTS, type KvType, USUAL_CONTEXT } from './shape.ts';

export type Tab = 'installed' | 'catalogue' | 'downloads';

/** What is known of a repository: nothing is asked before the user wants it. */
export type Look = { at: 'looking' } | { at: 'known'; model: RemoteModel } | { at: 'failed'; failure: Failure };

export type Finding =
  | { at: 'none' }
  | { at: 'searching' }
  | { at: 'found'; models: FoundModel[] }
  | { at: 'failed'; failure: Failure };

/** `name`: what it is called here; `references`: the repositories with its forms. */
export type Place = { id: string; name: string; references: string[] };

type ModelsStore = {
  tab: Tab;
  machine: Machine | null;
  catalogue: CatalogueModel[];
  downloads: Download[];
  adoptable: Adoptable[] | null;
  library: Library | null;
  installed: ModelId | null;
  details: ModelDetails | null;
  checking: Record<ModelId, number>;
  place: Place | null;
  variant: { reference: string; id: string } | null;
  looks: Record<string, Look>;
  finding: Finding;
  /** Where a search looks; null: the hub or its mirror. */
  source: 'modelscope' | 'folder' | null;
  /** Also what does not run here. */
  all: boolean;
  contextStep: number;
  kvType: KvType;
  load(): Promise<void>;
  loadLibrary(): Promise<void>;
  loadDetails(modelId: ModelId): Promise<void>;
  lookAgain(): Promise<void>;
  choose(place: Place): void;
  look(reference: string, variant?: string): Promise<void>;
  find(text: string): Promise<void>;
};

export const useModels = create<ModelsStore>()((set, get) => ({
  tab: 'installed',
  machine: null,
  catalogue: [],
  downloads: [],
  adoptable: null,
  library: null,
  installed: null,
  details: null,
  checking: {},
  place: null,
  variant: null,
  looks: {},
  finding: { at: 'none' },
  source: null,
  all: false,
  contextStep: USUAL_CONTEXT,
  kvType: 'f16',
  async load() {
    const [machine, catalogue, downloads, library] = await Promise.all([
      core.call('models.machine'),
      core.call('catalogue.list'),
      core.call('downloads.list'),
      core.call('library.state'),
    ]);
    set({ machine, catalogue, downloads, library });
  },
  async loadLibrary() {
    set({ library: await core.call('library.state') });
  },
  async loadDetails(modelId) {
    // What is known of it stays while it is asked for again.
    set(({ details }) => ({ installed: modelId, details: details?.modelId === modelId ? details : null }));
    const details = await core.call('models.details', { modelId }).catch(() => null);
    if (get().installed === modelId) set({ details });
  },
  async lookAgain() {
    set({ adoptable: await core.call('models.adoptable').catch(() => []) });
  },
  choose: (place) => set({ place, variant: null }),
  async look(reference, variant) {
    const before = get().looks[reference];
    if (before?.at === 'looking' || (before?.at === 'known' && variant === undefined)) return;
    const put = (look: Look) => set((state) => ({ looks: { ...state.looks, [reference]: look } }));
    if (before?.at !== 'known') put({ at: 'looking' });
    try {
      const model = await core.call('models.look', { reference, ...(variant !== undefined && { variant }) });
      put({ at: 'known', model });
    } catch (error) {
      put({ at: 'failed', failure: failureOf(error) });
    }
  },
  async find(text) {
    const { source, all } = get();
    set({ finding: { at: 'searching' } });
    try {
      const place = source === null ? {} : { source };
      set({ finding: { at: 'found', models: await core.call('models.search', { text, all, ...place }) } });
    } catch (error) {
      set({ finding: { at: 'failed', failure: failureOf(error) } });
    }
  },
}));

export const chosenContext = (state: Pick<ModelsStore, 'contextStep' | 'kvType'>) => ({
  contextLength: CONTEXTS[state.contextStep] ?? 32_768,
  kvType: state.kvType,
});

export function listenToModels(): () => void {
  const stops = [
    core.on('downloads.changed', (downloads) => useModels.setState({ downloads })),
    core.on('download.finished', tellFinished),
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

/** A model has come: from here one goes on with it. */
function tellFinished(model: ModelEntry) {
  useToasts.getState().show({
    text: t('models.arrived', { name: model.name }),
    action: t('models.useNow'),
    onAction: () => chatWith(model.id),
  });
}

/** Share of all downloads that is here; null when there is none. */
export function shareOf(downloads: readonly Download[]): number | null {
  const total = downloads.reduce((sum, item) => sum + item.total, 0);
  return total > 0 ? downloads.reduce((sum, item) => sum + item.done, 0) / total : null;
}
