import { resolve } from 'node:path';
import { type Client, LonghandError, type ModelEntry } from '../../protocol/index.ts';
import { table } from '../runtime/arguments.ts';
import { command } from '../runtime/command.ts';
import { bytes } from '../runtime/terminal.ts';
import { DATA_FLAG, withCore } from '../runtime/with-core.ts';

//  The list of models: what the Models page shows, in a terminal.

export const list = command({
  name: 'list',
  summary: 'List installed models with family, size and location.',
  usage: '',
  flags: DATA_FLAG,
  async run(context, values) {
    const models = await withCore(context, values.data, (client) => client.call('models.list'));
    if (context.json) context.terminal.out(`${JSON.stringify({ models })}\n`);
    else context.terminal.out(`${table([['model', 'family', 'size', 'files'], ...models.map(rowOf)])}\n`);
    return 0;
  },
});

const rowOf = ({ name, description, path, builtIn, missing }: ModelEntry): string[] => [
  name,
  description?.family ?? '–',
  description ? bytes(description.weightBytes) : '–',
  builtIn ? 'built in' : `${path}${missing ? ' (missing)' : ''}`,
];

export const importModel = command({
  name: 'import',
  summary: 'Add a model that is on this computer. Its files stay where they are.',
  usage: 'PATH',
  words: [1, 1],
  flags: DATA_FLAG,
  async run(context, values, [path = '']) {
    const model = await withCore(context, values.data, (client) =>
      client.call('models.import', { path: resolve(context.places.here, path) }),
    );
    context.terminal.out(context.json ? `${JSON.stringify({ model })}\n` : `${model.name}  ${model.path}\n`);
    return 0;
  },
});

export const link = command({
  name: 'link',
  was: 'adopt',
  summary:
    'Link a model from Ollama, LM Studio, Jan, GPT4All, MLX or the Hugging Face cache. Without a name, list them.',
  usage: '[NAME]',
  words: [0, 1],
  flags: DATA_FLAG,
  async run(context, values, [name]) {
    const { terminal, json } = context;
    return withCore(context, values.data, async (client) => {
      const found = await client.call('models.listExternal');
      if (name === undefined) {
        const rows = found.map((one) => [one.name, one.app, bytes(one.bytes), one.path]);
        if (json) terminal.out(`${JSON.stringify({ models: found })}\n`);
        else if (rows.length === 0) terminal.note('No models from other apps were found.');
        else terminal.out(`${table(rows)}\n`);
        return 0;
      }
      const one = found.find((candidate) => candidate.name === name || candidate.path === name);
      if (!one)
        throw new LonghandError('not-found', `[link] no other app has "${name}"; run longhand link to list them`);
      const model = await client.call('models.linkExternal', { path: one.path });
      terminal.out(json ? `${JSON.stringify({ model })}\n` : `${model.name}  ${model.path}\n`);
      return 0;
    });
  },
});

export const remove = command({
  name: 'rm',
  summary: 'Delete a downloaded model, or remove an imported or linked one from the list.',
  usage: 'NAME',
  words: [1, 1],
  flags: DATA_FLAG,
  async run(context, values, [name = '']) {
    const { freed, model } = await withCore(context, values.data, async (client) =>
      client.call('models.remove', { modelId: (await named(client, name)).id }),
    );
    if (context.json) context.terminal.out(`${JSON.stringify({ removed: model.name, freed })}\n`);
    else context.terminal.out(`${model.name} removed, ${freed > 0 ? `${bytes(freed)} freed` : 'its files are kept'}\n`);
    return 0;
  },
});

export const verify = command({
  name: 'verify',
  summary: 'Verify the files of one model, or of all downloaded models. Exit code 1 if any are damaged.',
  usage: '[NAME]',
  words: [0, 1],
  flags: { ...DATA_FLAG, repair: { kind: 'yes', help: 'download damaged blocks again the next time the app runs' } },
  async run(context, values, [name]) {
    const { terminal, json } = context;
    const checked = await withCore(context, values.data, async (client) => {
      const models = name === undefined ? await fetched(client) : [await named(client, name)];
      const results = [];
      for (const model of models) {
        const bar = terminal.progress(model.name);
        const stop = client.on('model.checking', ({ checked: done, total }) => bar.show(done, total));
        const result = await client.call('models.verify', { modelId: model.id }).finally(() => {
          stop();
          bar.end();
        });
        if (values.repair && result.damaged.length > 0) await client.call('models.repair', { modelId: model.id });
        results.push({ name: model.name, ...result });
      }
      return results;
    });
    const rows = checked.map(({ name: model, bytes: size, damaged, again }) => [
      model,
      bytes(size),
      damaged.length === 0 ? 'intact' : `damaged: ${damaged.join(', ')}, ${bytes(again)} to download again`,
    ]);
    if (json) terminal.out(`${JSON.stringify({ models: checked })}\n`);
    else if (rows.length === 0) terminal.note('No downloaded models yet.');
    else terminal.out(`${table(rows)}\n`);
    return checked.some(({ damaged }) => damaged.length > 0) ? 1 : 0;
  },
});

/** @throws LonghandError `not-found` with the names there are */
async function named(client: Client, name: string): Promise<ModelEntry> {
  const models = await client.call('models.list');
  const found = models.find((model) => model.name === name || model.id === name || model.path === name);
  if (found) return found;
  const names = models.map((model) => model.name).join(', ');
  throw new LonghandError('not-found', `[models] no model "${name}"; models: ${names}`);
}

async function fetched(client: Client): Promise<ModelEntry[]> {
  const models = await client.call('models.list');
  const details = await Promise.all(models.map(({ id }) => client.call('models.details', { modelId: id })));
  return models.filter((_, at) => /^(downloaded|made)$/.test(details[at]?.ownership ?? ''));
}
