import type { ChatId, Download, ModelId } from '../../../app/protocol/index.ts';
import { useQuality } from '../../../renderer/stores/models/quality.ts';
import { useModels } from '../../../renderer/stores/models/store.ts';
import { useShell } from '../../../renderer/stores/shell.ts';
import { installed } from '../../support/fakes/models.ts';
import type { World } from '../../support/fakes/world.ts';
import { alike, failed, results, stopped, underWay } from './quality-scenes.ts';

const llama = () => {
  const model = installed('llama-3.2-3b', 6.4e9, 'BF16');
  return { ...model, description: model.description && { ...model.description, container: 'safetensors' as const } };
};

/** What the page is opened with, and what is done once it is there. */
export type Scene = { world: World; open?: ChatId; after?: () => void };

//  The models page with what the mock-ups show.

const download = (
  name: string,
  variant: string,
  done: number,
  total: number,
  status: Download['status'],
): Download => ({
  id: `${name}-${variant}`,
  name,
  variant,
  source: 'huggingface',
  repository: `acme/${name}`,
  done,
  total,
  status,
});

const downloads: Download[] = [
  download('Qwen3.5 9B', 'Q6_K', 4.6e9, 7.4e9, { phase: 'running', rate: 38.4e6, secondsLeft: 74 }),
  download('LFM2 8B-A1B', 'Q4_K_M', 1.6e9, 5e9, { phase: 'paused' }),
  download('Qwen3.5 2B', 'Q5_K_M', 1.46e9, 1.5e9, { phase: 'repairing', damaged: 2 * 2 ** 20 }),
];

export function modelScenes(worldOfMocks: () => { world: World }): Record<string, () => Scene> {
  const scene = (tab: 'installed' | 'catalogue' | 'downloads', change: (world: World) => void = () => {}): Scene => {
    const { world } = worldOfMocks();
    world.downloads = downloads;
    world.models = [
      ...world.models,
      installed('qwen3.5-9b', 5.6e9, '4-bit'),
      installed('lfm2-1.2b', 1.2e9, 'Q8_0'),
      installed('qwen3.5-27b', 13.1e9, 'Q3_K_M', {
        external: true,
        path: '/home/ada/.lmstudio/models/acme/27b/model.gguf',
      }),
      installed('minicpm-sala-9b', 18.9e9, 'BF16'),
    ];
    world.settings.hubConsent = true;
    change(world);
    return {
      world,
      after: () => {
        useModels.setState({ tab });
        useShell.getState().go({ kind: 'models' });
      },
    };
  };
  /** What is asked for the large model, whose page is open. */
  const shrinking = (change: (world: World) => void, shown = 'minicpm-sala-9b'): Scene => {
    const { world, after } = scene('installed', (own) => {
      own.models.push(installed('qwen3.5-4b', 2.5e9, '4-bit', { name: 'Qwen3.5 4B 4-bit' }));
      change(own);
    });
    return {
      world,
      after: () => {
        after?.();
        useModels.setState({ installed: shown as never });
      },
    };
  };
  /** What the large model is worth. */
  const worth = (change: (world: World) => void): Scene => {
    const { world, after } = shrinking(change);
    return {
      world,
      after: () => {
        after?.();
        useQuality.setState({ shown: true });
      },
    };
  };
  const [shown, other] = ['minicpm-sala-9b', 'qwen3.5-9b'];
  const about = { modelId: 'minicpm-sala-9b' as never, name: 'MiniCPM-SALA 9B 4-bit' };
  return {
    models: () => scene('installed'),
    shrink: () => shrinking(() => {}),
    'shrink-running': () =>
      shrinking((world) => {
        world.shrinking = { status: 'running', ...about, phase: 'writing', share: 0.42, secondsLeft: 260 };
      }),
    'shrink-failed': () =>
      shrinking((world) => {
        const failure = {
          code: 'engine-failed',
          message: '[shrink] the process ended: signal SIGKILL',
          details: { reason: 'shrink-lost' },
        } as const;
        world.shrinking = { status: 'failed', ...about, failure };
      }, 'qwen3.5-4b'),
    'shrink-card': () =>
      shrinking((world) => {
        world.shrinking = { status: 'done', ...about, madeId: 'qwen3.5-4b' as never, quality: null };
        const measured = {
          nats: 0.0793,
          sameTop: 0.805,
          perplexity: 26.71,
          originalPerplexity: 25.07,
          tokens: 1022,
        };
        world.quality['qwen3.5-4b' as never] = {
          method: 'weighted',
          format: 'mlx',
          bytes: 2.5e9,
          sourceBytes: 8.4e9,
          seconds: 386,
          calibration: '4096 tokens of the manual',
          context: null,
          measured,
        };
      }, 'qwen3.5-4b'),
    trial: () =>
      shrinking((world) => {
        world.quality['qwen3.5-4b' as never] = {
          method: 'weighted',
          format: 'mlx',
          bytes: 2.5e9,
          sourceBytes: 8.4e9,
          seconds: 386,
          calibration: null,
          context: null,
          measured: null,
        };
        world.tried = [
          'Air scatters **short waves** of light far more than long ones, so blue reaches the eye from every part of the sky. Violet is scattered even more, but the sun sends less of it and eyes see it less well.',
          'The sky is blue because',
        ];
      }, 'qwen3.5-4b'),
    quality: () => worth((world) => void world.evaluations.push(...results(shown, other))),
    'quality-running': () =>
      worth((world) => void world.evaluations.push(underWay(shown, false), stopped(shown), ...results(shown, other))),
    'quality-waiting': () => worth((world) => void world.evaluations.push(underWay(other, true), failed(shown))),
    'quality-alike': () => worth((world) => void world.evaluations.push(...alike(shown, other))),
    'quality-tight': () =>
      worth((world) => {
        world.qualityPlan = { parts: 60, reads: 7680, writes: 61_440, seconds: 4980, memoryBytes: 12 * 2 ** 30 };
      }),
    'quality-refused': () =>
      worth((world) => {
        world.qualityPlan = null;
      }),
    latent: () => shrinking((world) => void world.models.push(llama()), 'llama-3.2-3b'),
    'latent-done': () =>
      shrinking((world) => {
        const quality = {
          method: 'MHA2MLA 2-norm 8 pairs, whitened rank 48',
          format: 'safetensors',
          bytes: 6.3e9,
          sourceBytes: 6.4e9,
          seconds: 1280,
          calibration: '4096 tokens of the manual',
          context: { bytes: 28_672, sourceBytes: 114_688 },
          measured: { nats: 2.99, sameTop: 0.141, perplexity: 602, originalPerplexity: 25.08, tokens: 1022 },
        };
        const made = { modelId: 'llama-3.2-3b', madeId: 'latent' } as never as { modelId: ModelId; madeId: ModelId };
        world.models.push(llama(), { ...llama(), id: made.madeId, name: 'Llama 3.2 3B latent' });
        world.quality[made.madeId] = quality;
        world.shrinking = { status: 'done', ...made, name: 'Llama 3.2 3B latent', quality };
      }, 'latent'),
    catalogue: () => scene('catalogue'),
    'catalogue-first': () =>
      scene('catalogue', (world) => {
        world.settings.hubConsent = false;
        world.downloads = [];
      }),
    downloads: () => scene('downloads'),
    'models-moving': () =>
      scene('installed', (world) => {
        const move = { from: world.shelf.folder, to: '/media/ada/Models/Longhand models', done: 12.1e9, total: 41.5e9 };
        world.shelf = { ...world.shelf, move: { ...move, status: { phase: 'copying' } } };
        const away = { missing: true, unmounted: true, external: true };
        world.models = world.models.map((model) => (model.id === 'qwen3.5-27b' ? { ...model, ...away } : model));
        world.status = { phase: 'loading', modelId: 'starter' as never, done: 43, total: 100 };
      }),
  };
}
