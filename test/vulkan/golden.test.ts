import { goldenModels } from '../support/models/golden-models.ts';
import { goldenVision } from '../support/models/golden-vision.ts';
import { loadOnVulkan, needsVulkan } from './device.ts';

needsVulkan();
goldenModels('on Vulkan', (path) => loadOnVulkan(path));
goldenVision('on Vulkan', (path) => loadOnVulkan(path));
