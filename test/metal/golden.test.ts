import { goldenModels } from '../support/models/golden-models.ts';
import { goldenVision } from '../support/models/golden-vision.ts';
import { loadOnMetal } from './standin.ts';

goldenModels('on Metal', (path) => loadOnMetal(path));
goldenVision('on Metal', (path) => loadOnMetal(path));
