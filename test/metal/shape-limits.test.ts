import { shapeLimits } from '../support/models/shape-limits.ts';
import { loadOnMetal } from './standin.ts';

shapeLimits('metal', (path) => loadOnMetal(path));
