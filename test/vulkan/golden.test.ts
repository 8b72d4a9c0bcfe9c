import { goldenModels } from '../support/golden-models.ts';
import { loadOnVulkan, needsVulkan } from './device.ts';

needsVulkan();
goldenModels('on Vulkan', (path) => loadOnVulkan(path));
