import { goldenModels } from '../support/golden-models.ts';
import { loadOnMetal } from './standin.ts';

goldenModels('on Metal', (path) => loadOnMetal(path));
