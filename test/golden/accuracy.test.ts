// The largest error of every family and kind of file, over all its golden cases, positions and instruction sets: the table of
// the README beside this. It may not promise more than is measured.
//   LONGHAND_WRITE=1 npx vitest run --config test/vitest.config.ts golden/accuracy      writes it anew
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addon, golden, repository } from '../support/addon.ts';
import { asFloats, readSafetensors } from '../support/models/formats.ts';
import { exactSession, instructionSets, largestDifference, readCase, required } from '../support/models/golden.ts';
import { fusedFolder } from '../support/models/qwen3-next.ts';
import { convertedFile, ggufConverted, ggufFiles, latent, latentFolder, mlxFolders, published } from './cases.ts';

type Container = 'safetensors' | 'GGUF' | 'MLX';
type Errors = Map<string, Partial<Record<Container, number>>>;

async function ofDecoder(path: string, cpu: string, name: string, prefix = 'logits.'): Promise<[string, number]> {
  const model = await addon.load(path, { cpu });
  const reference = readCase(name);
  let error = 0;
  for (const prompt of reference.prompts) {
    const session = exactSession(model);
    const { data } = await session.logits(prompt.ids, { all: true });
    error = Math.max(error, largestDifference(data, required(reference, `${prefix}${prompt.name}`)));
    session.close();
  }
  const { family } = model.description;
  model.close();
  return [family, error];
}

async function ofEncoder(path: string, cpu: string): Promise<[string, number]> {
  const folder = join(golden, 'bert/tiny');
  const { prompts } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as {
    prompts: Record<string, { ids: number[]; attention_mask: number[] }>;
  };
  const expected = readSafetensors(readFileSync(join(folder, 'expected.safetensors')));
  const model = await addon.load(path, { cpu });
  let error = 0;
  for (const [name, { ids, attention_mask }] of Object.entries(prompts)) {
    const vector = await model.embed(Int32Array.from(ids.filter((_, i) => attention_mask[i] === 1)));
    error = Math.max(
      error,
      largestDifference(vector, asFloats(expected[`embedding.${name}`]?.bytes ?? new Uint8Array())),
    );
  }
  const { family } = model.description;
  model.close();
  return [family, error];
}

async function measured(): Promise<Errors> {
  const errors: Errors = new Map();
  const note = (container: Container, [family, error]: [string, number]) => {
    const row = errors.get(family) ?? {};
    errors.set(family, { ...row, [container]: Math.max(row[container] ?? 0, error) });
  };
  for (const cpu of instructionSets) {
    for (const name of published) note('safetensors', await ofDecoder(join(golden, name), cpu, name));
    note('safetensors', await ofDecoder(fusedFolder(join(golden, 'qwen3_5_moe/top3')), cpu, 'qwen3_5_moe/top3'));
    for (const name of latent) note('safetensors', await ofDecoder(latentFolder(name), cpu, `mha2mla/${name}`));
    for (const [name, file] of ggufFiles) {
      const path = join(golden, 'gguf_models', name, `model-${file}.gguf`);
      note('GGUF', await ofDecoder(path, cpu, `gguf_models/${name}`, `${file}.logits.`));
    }
    for (const [arch, name, weights] of ggufConverted) {
      note('GGUF', await ofDecoder(convertedFile(arch, name, weights), cpu, name));
    }
    for (const name of mlxFolders) {
      note('MLX', await ofDecoder(join(golden, 'mlx_models', name), cpu, `mlx_models/${name}`));
    }
    note('safetensors', await ofEncoder(join(golden, 'bert/tiny'), cpu));
    note('GGUF', await ofEncoder(convertedFile('bert', 'bert/tiny'), cpu));
  }
  return errors;
}

const CONTAINERS: Container[] = ['safetensors', 'GGUF', 'MLX'];
const ABOUT: Record<string, string> = {
  llama: 'Llama 3, SmolLM2',
  'llama-mla': 'MHA2MLA latent attention',
  qwen3_5: 'gated DeltaNet',
  qwen3_5_moe: 'with experts',
  lfm2: 'short convolution',
  lfm2_moe: 'with experts',
  minicpm_sala: 'lightning and sparse attention',
  bert: 'encoder: error of the embedding',
};
/** Two digits, rounded up: a promise. */
const spelled = (error: number | undefined) => {
  if (error === undefined) return '';
  const unit = 10 ** Math.floor(Math.log10(error) - 1);
  return (Math.ceil(error / unit) * unit).toExponential(1);
};

const [BEGIN, END] = ['<!-- golden errors -->', '<!-- /golden errors -->'];
const readme = join(repository, 'test', 'golden', 'README.md');

function written(errors: Errors): string {
  const rows = [...errors.keys()].sort().map((family) => {
    const about = ABOUT[family] ? `${family} (${ABOUT[family]})` : family;
    const row = errors.get(family) ?? {};
    return `| ${about} | ${CONTAINERS.map((container) => spelled(row[container])).join(' | ')} |`;
  });
  return `${BEGIN}\n| family | ${CONTAINERS.join(' | ')} |\n|---|---|---|---|\n${rows.join('\n')}\n${END}`;
}

test('the page of golden models tells the largest error of every family', { timeout: 180_000 }, async () => {
  const errors = await measured();
  const text = readFileSync(readme, 'utf8');
  const old = text.slice(text.indexOf(BEGIN), text.indexOf(END) + END.length);
  if (process.env.LONGHAND_WRITE === '1') writeFileSync(readme, text.replace(old, written(errors)));
  const told: Errors = new Map();
  for (const [, name = '', ...cells] of readFileSync(readme, 'utf8').matchAll(
    /^\| (\w[\w-]*)(?: \([^|]*\))? \| (.*) \| (.*) \| (.*) \|$/gm,
  )) {
    if (errors.has(name)) {
      const figures = CONTAINERS.map((container, i) => [container, cells[i] ? Number(cells[i]) : undefined] as const);
      told.set(name, Object.fromEntries(figures.filter(([, figure]) => figure !== undefined)));
    }
  }
  for (const [family, row] of errors) {
    expect(Object.keys(told.get(family) ?? {}).sort(), family).toEqual(Object.keys(row).sort());
    for (const container of CONTAINERS) {
      // Another processor adds in another order: its figure may be twice as large.
      if (row[container] !== undefined)
        expect(row[container], family).toBeLessThan(2 * (told.get(family)?.[container] ?? 0));
    }
  }
});
