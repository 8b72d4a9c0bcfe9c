// The built addon, with its declared types.
import { createRequire } from 'node:module';
import { join } from 'node:path';

export const repository: string = join(import.meta.dirname, '..', '..');
export const golden: string = join(repository, 'test', 'golden');

type Addon = typeof import('../../native/addon/index.d.ts');
export const addon = createRequire(import.meta.url)(
  join(repository, 'build', 'native', 'Release', 'longhand.node'),
) as Addon;
