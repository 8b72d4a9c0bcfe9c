import { join } from 'node:path';

/** Locations of the app's parts. When packaged, everything but JavaScript lies in the resources folder, outside the
 *  archive, because the system maps or loads it. */
export type Paths = {
  core: string;
  engine: string;
  worker: string;
  pictureWorker: string;
  documentParser: string;
  documentWorker: string;
  sandbox: string;
  converter: string;
  preload: string;
  renderer: string;
  addon: string;
  migrations: string;
  resources: string;
};

export function pathsOf(options: { root: string; resources: string; packaged: boolean }): Paths {
  const { root, packaged } = options;
  const dist = join(root, 'dist');
  const resources = packaged ? options.resources : join(root, 'resources');
  return {
    core: join(dist, 'main', 'core.js'),
    engine: join(dist, 'main', 'engine.js'),
    worker: join(dist, 'main', 'template-worker.js'),
    pictureWorker: join(dist, 'main', 'picture-worker.js'),
    documentParser: join(dist, 'main', 'document-parser.js'),
    documentWorker: join(dist, 'main', 'document-worker.js'),
    sandbox: join(dist, 'main', 'sandbox-worker.js'),
    converter: join(dist, 'main', 'converter.js'),
    preload: join(dist, 'preload', 'preload.cjs'),
    renderer: join(dist, 'renderer'),
    addon: packaged ? join(resources, 'longhand.node') : join(root, 'build', 'native', 'Release', 'longhand.node'),
    migrations: join(dist, 'main', 'migrations'),
    resources,
  };
}
