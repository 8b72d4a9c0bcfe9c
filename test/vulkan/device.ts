// The Vulkan back end as tests see it: the first device of this machine, on one without a GPU Mesa's software driver.
import { beforeEach } from 'vitest';
import type { LoadOptions, Model } from '../../native/addon/index.d.ts';
import { addon } from '../support/addon.ts';

export const loadOnVulkan = (path: string, options: LoadOptions = {}): Promise<Model> =>
  addon.load(path, { ...options, device: 'vulkan' });

/** First line of a file whose tests run on the device. Setup brings a driver on Linux; a Mac has none. */
export function needsVulkan(): void {
  beforeEach(({ skip }) => {
    if (process.platform === 'darwin') skip('needs Linux: a Vulkan driver');
  });
}
