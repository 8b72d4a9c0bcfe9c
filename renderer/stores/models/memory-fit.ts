import {
  type CatalogueModel,
  type Forecast,
  forecast,
  type Machine,
  type ModelDescription,
  type Variant,
} from '../../../app/protocol/index.ts';

//  Computed in the page from descriptions alone, so that every row follows the slider at once.

export const CONTEXTS = [4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144] as const;
export const USUAL_CONTEXT = 32_768;

/** The contexts to choose from: the usual sizes, and the model's maximum at the end. */
export function contextsOf({ contextLength }: Pick<ModelDescription, 'contextLength'>): number[] {
  const shorter = CONTEXTS.filter((size) => size < contextLength);
  return shorter.length === CONTEXTS.length ? [...CONTEXTS] : [...shorter, contextLength];
}

export type KvType = 'f16' | 'q8';
export type Chosen = { contextLength: number; kvType: KvType };

/** Whether a layer's memory is constant or grows with the context. */
export type LayerLook = 'fixed' | 'grows';
type Group = 'linear' | 'conv' | 'full' | 'sparse' | 'encoder';

const groupOfKind: Record<ModelDescription['layers'][number]['kind'], Group> = {
  attention: 'full',
  latent: 'full',
  'gated-delta': 'linear',
  lightning: 'linear',
  sparse: 'sparse',
  'short-conv': 'conv',
  encoder: 'encoder',
};
const groupOfLetter: Record<string, Group> = { L: 'linear', C: 'conv', F: 'full', S: 'sparse' };

export type Strip = { looks: LayerLook[]; counts: [Group, number][] };

const ORDER: readonly Group[] = ['linear', 'conv', 'full', 'sparse', 'encoder'];

function stripOf(groups: readonly Group[]): Strip {
  const counts = ORDER.map((group): [Group, number] => [group, groups.filter((one) => one === group).length]);
  return {
    looks: groups.map((group) => (group === 'linear' || group === 'conv' ? 'fixed' : 'grows')),
    counts: counts.filter(([, count]) => count > 0),
  };
}

export const stripOfModel = ({ layers }: ModelDescription): Strip =>
  stripOf(layers.map(({ kind }) => groupOfKind[kind]));

export const stripOfLetters = (letters: string): Strip =>
  stripOf([...letters].map((letter) => groupOfLetter[letter] ?? 'full'));

const hasFourBits = ({ forms }: CatalogueModel) => forms.some(({ kind }) => kind !== 'safetensors');

/** Bytes of the smallest common variant: four bits (plus overhead) if there is one, otherwise as published. */
export const leastBytes = (model: CatalogueModel): number => (model.parameters * (hasFourBits(model) ? 4.85 : 16)) / 8;

/** An estimate from the catalogue entry, before the headers are read: sizes follow from the numbers of parameters and layers. */
export function likelyDescription(model: CatalogueModel): ModelDescription {
  const strip = stripOfLetters(model.layers);
  const hiddenSize = Math.sqrt(model.parameters / (12 * strip.looks.length));
  const growing = strip.looks.filter((look) => look === 'grows').length;
  const bytes = leastBytes(model);
  return {
    supported: true,
    problems: [],
    notices: [],
    family: model.family,
    container: 'gguf',
    layers: [],
    hiddenSize,
    vocabularySize: 151_936,
    contextLength: model.context,
    parameters: model.parameters,
    weightBytes: bytes,
    types: {},
    activeBytes: bytes * ((model.activeParameters ?? model.parameters) / model.parameters),
    stateBytes: 0,
    // Keys and values of a quarter of the heads, 16 bits each.
    contextBytesPerToken: growing * (hiddenSize / 4) * 2 * 2,
    memory: null,
    mtp: false,
    encoder: model.abilities.includes('embeddings'),
    reranker: false,
    vision: null,
  };
}

export const fitOf = (description: ModelDescription, machine: Machine, chosen: Chosen): Forecast =>
  forecast(description, machine, chosen);

export type Purpose = 'search' | 'trial' | 'short' | 'everyday' | 'writing' | 'reasoning' | 'quick-hard' | 'hard';

/** What a model is good for, derived from its abilities and size: its model card would be advertising. */
export function purposeOf({ abilities, parameters, activeParameters }: CatalogueModel): Purpose {
  if (abilities.includes('embeddings')) return 'search';
  if (parameters >= 15e9) return activeParameters !== undefined && activeParameters < 5e9 ? 'quick-hard' : 'hard';
  const power = activeParameters === undefined ? parameters : Math.sqrt(parameters * activeParameters);
  if (power < 0.5e9) return 'trial';
  if (power < 1e9) return 'short';
  if (power < 2.5e9) return 'everyday';
  return power < 6e9 ? 'writing' : 'reasoning';
}

/** Common memory sizes of computers, in GB. */
const COMPUTERS = [4, 8, 12, 16, 24, 32, 48, 64, 96, 128] as const;
/** Share of a computer's memory available to a model beside the system and other apps. */
const FOR_MODELS = 0.7;

/** The smallest computer that a model runs well on, in GB of memory, with the usual context. */
export function computerFor(model: CatalogueModel): number {
  const machine = { limitBytes: Number.POSITIVE_INFINITY, bandwidth: null };
  const { total } = forecast(likelyDescription(model), machine, { contextLength: USUAL_CONTEXT });
  const needed = total / FOR_MODELS / 2 ** 30;
  return COMPUTERS.find((memory) => memory >= needed) ?? Math.ceil(needed / 64) * 64;
}

/** English words per token, for common tokenizers. */
const WORDS_PER_TOKEN = 0.75;

/** Words a second that a model writes here; null until the memory of this machine was measured. */
export function wordsPerSecond(description: ModelDescription, machine: Machine): number | null {
  const { tokensPerSecond } = forecast(description, machine, { contextLength: 4096 });
  return tokensPerSecond === null ? null : tokensPerSecond * WORDS_PER_TOKEN;
}

/** On a CPU a token takes as long as reading its active weights: more than this is slower than a person reads. */
const MAX_CPU_WEIGHT_BYTES = 4.5e9;

/** The largest model that leaves room for a usual chat and is not too slow for this machine. */
export function bestFor(models: readonly CatalogueModel[], machine: Machine, gpu: boolean): CatalogueModel | null {
  const chosen: Chosen = { contextLength: USUAL_CONTEXT, kvType: 'f16' };
  const able = models.filter(
    (model) =>
      !model.abilities.includes('embeddings') &&
      hasFourBits(model) &&
      !model.forms.every((form) => form.gated) &&
      (gpu || (model.activeParameters ?? model.parameters) <= MAX_CPU_WEIGHT_BYTES) &&
      fitOf(likelyDescription(model), machine, chosen).verdict === 'fits',
  );
  return able.toSorted((a, b) => b.parameters - a.parameters)[0] ?? null;
}

/** Those that fit first, each group from the largest down. */
export function fittingFirst(models: readonly CatalogueModel[], machine: Machine, chosen: Chosen): CatalogueModel[] {
  const ranks = { fits: 0, tight: 1, 'too-large': 2 };
  const rank = (model: CatalogueModel) => ranks[fitOf(likelyDescription(model), machine, chosen).verdict];
  return models.toSorted((a, b) => rank(a) - rank(b) || b.parameters - a.parameters);
}

/** A variant of a model and its repository. */
export type FormRow = { reference: string; variant: Variant };

export type Quality = 'original' | 'none' | 'close' | 'balance' | 'weaker' | 'poor';

/** The expected quality, by bits per weight. */
export function qualityOf({ bytes, description }: Pick<Variant, 'bytes' | 'description'>): Quality {
  const bits = (bytes * 8) / Math.max(1, description.parameters);
  if (bits >= 15) return 'original';
  if (bits >= 7.5) return 'none';
  if (bits >= 5.3) return 'close';
  if (bits >= 4.2) return 'balance';
  return bits >= 3.2 ? 'weaker' : 'poor';
}

/** The best quality that fits, up to about five bits: above that, more size gains little. */
export function suggestedVariant(variants: readonly Variant[], machine: Machine, chosen: Chosen): Variant | null {
  const able = variants.filter(({ description }) => description.supported);
  const fitting = able.filter(({ description }) => fitOf(description, machine, chosen).verdict === 'fits');
  const balanced = fitting.filter((variant) => qualityOf(variant) === 'balance');
  const bySize = (list: readonly Variant[]) => list.toSorted((a, b) => b.bytes - a.bytes);
  return (
    balanced.find(({ label }) => label === 'Q4_K_M') ??
    bySize(balanced)[0] ??
    bySize(fitting).find((variant) => qualityOf(variant) !== 'original') ??
    bySize(fitting)[0] ??
    bySize(able).at(-1) ??
    null
  );
}

/** The name of a variant in a table: the type of most bytes; MLX packs codes into words, so their bits are computed. */
export function typeOf({ container, types, weightBytes, parameters }: ModelDescription): string | null {
  if (container === 'mlx') return `${Math.floor((weightBytes * 8) / Math.max(1, parameters))}-bit`;
  const [main] = Object.entries(types).sort((a, b) => b[1] - a[1]);
  return main ? main[0].toUpperCase() : null;
}

export type Ability = CatalogueModel['abilities'][number];
/** Abilities that the engine supports too. */
export const FILTERS: readonly Ability[] = ['thinking', 'tools', 'embeddings'];
