import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import renderer from '../../../renderer/vite.config.ts';

/** The renderer's own build, for the page over the core in memory. Never part of what is shipped. */
export default defineConfig({
  ...renderer,
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: { ...renderer.build, outDir: fileURLToPath(new URL('../../../.cache/renderer-page', import.meta.url)) },
});
