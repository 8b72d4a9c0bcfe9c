// The engine of this checkout and its encoder, for the scripts here.
import { join, resolve } from 'node:path';
import { createEngine, type Engine } from '../../../app/engine/client/engine-client.ts';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';

export const root = resolve(import.meta.dirname, '../../..');
export const encoder = { path: join(root, 'resources/encoder'), device: null, threads: null };

export const startEngine = (): Engine =>
  createEngine({
    startEngine: engineByFork(join(root, 'app/engine/process/main.ts'), {
      worker: join(root, 'app/text/jinja/template-process.ts'),
      pictureWorker: join(root, 'app/pictures/picture-process.ts'),
      addon: join(root, 'build/native/Release/longhand.node'),
    }),
    onStatus: () => {},
  });
