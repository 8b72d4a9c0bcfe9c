import type { ShrinkService } from '../../../app/models/shrinking/shrinking.ts';
import {
  type Emit,
  type LatentSize,
  type ModelEntry,
  type ModelId,
  SHRINK_BITS,
  SHRINK_GROUPS,
  SHRINK_TYPES,
  type ShrinkForm,
} from '../../../app/protocol/index.ts';
import type { World } from './world.ts';

//  Smaller versions in the fake core: sizes by arithmetic; one that begins stands still, as far as a scene wants it.

const FORMS: readonly ShrinkForm[] = [
  ...SHRINK_GROUPS.flatMap((group) => SHRINK_BITS.map((bits): ShrinkForm => ({ format: 'mlx', bits, group }))),
  ...SHRINK_TYPES.map((type): ShrinkForm => ({ format: 'gguf', type })),
];

/** With a scale and a bias for every group. */
const bitsOf = (form: ShrinkForm): number =>
  form.format === 'mlx' ? form.bits + 32 / form.group : Number(form.type[1]) + 0.5;

export function fakeShrinking(
  world: World,
  emit: Emit,
  model: (modelId: ModelId) => ModelEntry,
): ShrinkService['handlers'] {
  const put = (shrinking: World['shrinking']) => {
    world.shrinking = shrinking;
    emit('model.shrinking', shrinking);
  };
  return {
    'models.shrinkPlan': ({ modelId }) => {
      const { parameters = 0, weightBytes: bytes = 0, types = {} } = model(modelId).description ?? {};
      const sizes = FORMS.map((form) => ({ form, bytes: (parameters * bitsOf(form)) / 8 }));
      const quantised = !Object.keys(types).some((type) => /^B?F(16|32)$/.test(type));
      return { modelId, bytes, quantised, reads: true, sizes: sizes.filter((one) => one.bytes < bytes), free: 212e9 };
    },
    'models.shrink': ({ modelId }) =>
      put({
        status: 'running',
        modelId,
        name: `${model(modelId).name} 4-bit`,
        phase: 'writing',
        share: 0.42,
        secondsLeft: 260,
      }),
    'models.latentPlan': ({ modelId }) => {
      const { description } = model(modelId);
      const contextBytesPerToken = description?.contextBytesPerToken ?? 0;
      const sizes = [4, 8, 16, 32].flatMap((pairs) =>
        [false, true].flatMap((split) =>
          [1 / 2, 3 / 8, 1 / 4, 3 / 16].map((share): LatentSize => {
            const rank = (256 * share - 2 * pairs) / (split ? 2 : 1);
            const bytes = description?.weightBytes ?? 0;
            const kept = contextBytesPerToken * share;
            return {
              pairs,
              rank,
              split,
              weightBytes: bytes,
              activeBytes: bytes,
              contextBytesPerToken: kept,
              memory: null,
            };
          }),
        ),
      );
      return {
        modelId,
        reads: true,
        allPairs: 64,
        contextBytesPerToken,
        sizes: sizes.filter(({ rank }) => rank > 0),
        free: 212e9,
      };
    },
    'models.convert': ({ modelId }) =>
      put({
        status: 'running',
        modelId,
        name: `${model(modelId).name} latent`,
        phase: 'converting',
        share: 0.42,
        secondsLeft: 260,
      }),
    'models.shrinking': () => world.shrinking,
    'models.cancelShrink': () => put(null),
  };
}
