// The encoder in the box (resources/encoder) against the published one that it was made of.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../../app/engine/client/engine-client.ts';
import { newFolder, places, realEngine, root } from '../support/core/core.ts';
import { pairs, reader } from '../support/documents/reader.ts';
import { realModel } from '../support/models/real-models.mjs';

const folder = join(places.resources, 'encoder');
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
const target = (path: string) => ({ path, device: null, threads: null });
const texts = readFileSync(join(places.resources, 'help/04-documents.md'), 'utf8').split('\n\n').slice(0, 12);

function openEngine() {
  const engine = createEngine({ startEngine: realEngine(), onStatus: () => {} });
  onTestFinished(() => engine.close());
  return engine;
}

test('the published weights give the file in the tree byte for byte, and its card names it', async () => {
  const made = newFolder();
  execFileSync(process.execPath, [join(root, 'resources/encoder/make/quantise.ts'), await realModel('minilm'), made]);
  const built = sha256(join(folder, 'model.safetensors'));
  expect(sha256(join(made, 'model.safetensors'))).toBe(built);
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(built);
});

test('its vectors point where those of the published weights do', async () => {
  const engine = openEngine();
  const asked = { texts, kind: 'passage', urgent: true } as const;
  const one = await engine.ask('embed', { ...asked, target: target(await realModel('minilm')) });
  const other = await engine.ask('embed', { ...asked, target: target(folder) });
  const cosines = one.vectors.map((vector, at) =>
    vector.reduce((sum, value, i) => sum + value * (other.vectors[at]?.[i] ?? 0), 0),
  );
  expect(cosines).toHaveLength(texts.length);
  expect(Math.min(...cosines)).toBeGreaterThan(0.999);
});

test('the reader of documents goes on it and says what it says on the published weights', async () => {
  const engine = openEngine();
  const readers = { ...target(folder), adapter: reader };
  for (const { question, statement, score } of pairs) {
    const { scores } = await engine.ask('rank', { target: readers, query: question, texts: [statement] });
    expect(scores[0]).toBeCloseTo(score, 1);
  }
});
