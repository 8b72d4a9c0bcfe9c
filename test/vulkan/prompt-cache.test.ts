// The prompt cache on Vulkan: what comes back from host memory, or from disk, equals what reading it anew gives.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { golden } from '../support/addon.ts';
import { newFolder } from '../support/core/core.ts';
import { fromDisk } from '../support/models/from-disk.ts';
import { walk } from '../support/models/prompt-trees.ts';
import { limitMs, runs } from '../support/soak.ts';
import { loadOnVulkan, needsVulkan } from './device.ts';

needsVulkan();

const families = [
  'qwen3/qk_norm_tied',
  'qwen3_5/dense_tied',
  'lfm2/auto_adjust',
  'minicpm_sala/mixed',
  'mha2mla/uniform_r4_joint_rank8',
];

test.each(families)(
  '%s: cached = cold, bit for bit, from memory and from disk',
  { timeout: limitMs(240_000) },
  async (name) => {
    const [warm, cold] = [await loadOnVulkan(join(golden, name)), await loadOnVulkan(join(golden, name))];
    const tree = { warm, cold, path: 'exact' as const, contextLength: 128, longest: 12 };
    const ample = await walk({ ...tree, seed: 3, budgets: [2 ** 28] }, runs(10));
    await walk({ ...tree, seed: 4, budgets: [0, 2000, 60_000] }, runs(6));
    expect(ample.cached).toBeGreaterThan(0);
    expect(await fromDisk(warm, cold, newFolder()), 'from disk').toEqual({ cached: 41, same: true });
    warm.close();
    cold.close();
  },
);
