import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Manifest } from 'vite';
import { beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const out = join(root, '.cache', 'renderer-size');
const BUDGET = 600_000;

beforeAll(
  () => build({ configFile: join(root, 'renderer', 'vite.config.ts'), build: { outDir: out }, logLevel: 'error' }),
  120_000,
);

const page = () => readFileSync(join(out, 'index.html'), 'utf8');

test('what the first paint needs is below 600 kB compressed; highlighter, grammars and formulas are not in it', () => {
  const manifest = JSON.parse(readFileSync(join(out, '.vite', 'manifest.json'), 'utf8')) as Manifest;
  const entry = Object.values(manifest).find((chunk) => chunk.isEntry);
  const first = [
    entry?.file ?? '',
    ...(entry?.css ?? []),
    ...(entry?.imports ?? []).map((key) => manifest[key]?.file ?? ''),
  ];
  const bytes = first.reduce((sum, file) => sum + gzipSync(readFileSync(join(out, file))).length, 0);
  expect(bytes).toBeLessThan(BUDGET);
  expect(bytes).toBeGreaterThan(50_000);
  expect(first.join()).not.toMatch(/katex|python|highlight|pdf/);
});

test('what pdf.js reads while it draws lies beside the page: maps, fonts, profiles and decoders', () => {
  const files = readdirSync(join(out, 'pdfjs'), { recursive: true, encoding: 'utf8' });
  for (const name of [
    'cmaps/UniJIS-UTF16-H.bcmap',
    'standard_fonts/LiberationSans-Regular.ttf',
    'iccs/CGATS001Compat-v2-micro.icc',
    'wasm/openjpeg.wasm',
    'wasm/jbig2.wasm',
  ])
    expect(files).toContain(name);
  expect(files.join()).not.toMatch(/quickjs|sandbox/);
});

test('the page has no inline script, no style and no address but its own', () => {
  expect(page()).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/);
  expect(page()).not.toMatch(/<style|\son[a-z]+=|https?:/);
  for (const [, address] of page().matchAll(/(?:src|href)="([^"]+)"/g)) {
    expect(address).toMatch(/^\.\//);
    expect(existsSync(join(out, address as string))).toBe(true);
  }
});

test('the code neither evaluates text nor names a foreign host to load from', () => {
  const manifest = JSON.parse(readFileSync(join(out, '.vite', 'manifest.json'), 'utf8')) as Manifest;
  const entry = Object.values(manifest).find((chunk) => chunk.isEntry);
  const code = readFileSync(join(out, entry?.file ?? ''), 'utf8');
  expect(code).not.toMatch(/\beval\(|new Function\("return this"\)/);
});
