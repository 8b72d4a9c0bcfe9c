import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'electron-vite';
import renderer from './renderer/vite.config.ts';

const root = import.meta.dirname;
const at = (...path: string[]) => join(root, ...path);

/** The SQL files go beside the bundle as they are. */
const migrations = {
  name: 'migrations',
  closeBundle: () => cpSync(at('app/store/database/migrations'), at('dist/main/migrations'), { recursive: true }),
};

//  Six processes from one source: Electron's main process (index), the core, the engine, the reader of documents, the one that makes models, and the browser host as a bundle of
//  its own; the preload script as one CommonJS file, because sandboxed scripts know no modules; and the page.
export default defineConfig({
  main: {
    plugins: [migrations],
    build: {
      outDir: at('dist/main'),
      rollupOptions: {
        input: {
          index: at('main/index.ts'),
          core: at('main/processes/core-entry.ts'),
          engine: at('app/engine/process/main.ts'),
          converter: at('app/conversion/process/main.ts'),
          server: at('app/server/main.ts'),
          cli: at('app/cli/main.ts'),
          'template-worker': at('app/text/jinja/template-process.ts'),
          'picture-worker': at('app/pictures/picture-process.ts'),
          'document-parser': at('app/documents/parse/parser-process.ts'),
          'document-worker': at('app/documents/parse/parser-worker.ts'),
          'sandbox-worker': at('app/tools/sandbox/sandbox-worker.ts'),
        },
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      outDir: at('dist/preload'),
      externalizeDeps: false,
      rollupOptions: {
        input: { preload: at('main/preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    ...renderer,
    root: at('renderer'),
    build: { ...renderer.build, rollupOptions: { input: at('renderer/index.html') } },
  },
});
