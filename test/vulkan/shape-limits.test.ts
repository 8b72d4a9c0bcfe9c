import { shapeLimits } from '../support/models/shape-limits.ts';
import { loadOnVulkan, needsVulkan } from './device.ts';

needsVulkan();
shapeLimits('vulkan', (path) => loadOnVulkan(path));
