import { shapeLimits } from '../support/shape-limits.ts';
import { loadOnMetal } from './standin.ts';

shapeLimits('metal', (path) => loadOnMetal(path));
