import { goldenModels } from '../support/golden-models.ts';
import { goldenVision } from '../support/golden-vision.ts';
import { loadOnVulkan, needsVulkan } from './device.ts';

needsVulkan();
goldenModels('on Vulkan', (path) => loadOnVulkan(path));
goldenVision('on Vulkan', (path) => loadOnVulkan(path));
