import { goldenModels } from '../support/golden-models.ts';
import { goldenVision } from '../support/golden-vision.ts';
import { loadOnMetal } from './standin.ts';

goldenModels('on Metal', (path) => loadOnMetal(path));
goldenVision('on Metal', (path) => loadOnMetal(path));
