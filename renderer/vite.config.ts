import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const pdfjs = dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')));
const NEEDED: Record<string, RegExp> = {
  cmaps: /\.bcmap$/,
  standard_fonts: /\.(pfb|ttf)$/,
  iccs: /\.icc$/,
  wasm: /^(jbig2|openjpeg|qcms).*\.(wasm|js)$/,
};

/** What pdf.js reads while it draws, beside the page under `pdfjs/`: character maps, the fourteen fonts that files need not
 *  carry, colour profiles, decoders of pictures. Nothing of it is in a script. */
const pdfFiles: Plugin = {
  name: 'pdf-files',
  generateBundle() {
    for (const [folder, wanted] of Object.entries(NEEDED)) {
      for (const name of readdirSync(join(pdfjs, folder)).filter((file) => wanted.test(file)))
        this.emitFile({
          type: 'asset',
          fileName: `pdfjs/${folder}/${name}`,
          source: readFileSync(join(pdfjs, folder, name)),
        });
    }
  },
  configureServer(server) {
    server.middlewares.use('/pdfjs', (request, response, next) => {
      const [, folder = '', name = ''] = (request.url ?? '').split('?')[0]?.split('/') ?? [];
      if (!NEEDED[folder]?.test(name)) next();
      else response.end(readFileSync(join(pdfjs, folder, name)));
    });
  },
};

/** Relative addresses, so that one build serves the app protocol of Electron and the browser host; no inline script, no
 *  inlined file and no eval, so that the policy may be `default-src 'none'`. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [react(), tailwindcss(), pdfFiles],
  worker: { format: 'es' },
  build: {
    outDir: fileURLToPath(new URL('../dist/renderer', import.meta.url)),
    emptyOutDir: true,
    target: 'chrome130',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    chunkSizeWarningLimit: 1200,
  },
});
