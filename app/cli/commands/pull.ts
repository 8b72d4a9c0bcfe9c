import { type Client, type Download, LonghandError, type ModelEntry } from '../../protocol/index.ts';
import { table } from '../runtime/arguments.ts';
import { command } from '../runtime/command.ts';
import { bytes } from '../runtime/terminal.ts';
import { DATA_FLAG, withCore } from '../runtime/with-core.ts';

export const pull = command({
  name: 'pull',
  summary: 'Download a model. Ctrl-C pauses; run the same command to continue.',
  usage: 'NAME|ADDRESS [FILE]',
  words: [1, 2],
  flags: {
    ...DATA_FLAG,
    look: { kind: 'yes', help: 'only list the variants, their sizes and whether they run here' },
    name: { kind: 'text', value: 'TEXT', help: 'name in the model list' },
  },
  async run(context, values, [reference = '', variant]) {
    const { terminal, json } = context;
    const chosen = { reference, ...(variant !== undefined && { variant }) };
    return withCore(context, values.data, async (client) => {
      const look = await client.call('models.inspectRemote', chosen);
      if (values.look) {
        const rows = look.variants.map(({ id, label, kind, bytes: size, exact, description }) => [
          id,
          label || kind,
          bytes(size),
          exact ? (description.supported ? 'runs' : (description.problems[0] ?? 'does not run')) : '',
        ]);
        terminal.out(json ? `${JSON.stringify(look)}\n` : `${table(rows)}\n`);
        return 0;
      }
      const item = await begin(client, chosen, look.repository, values.name);
      const bar = terminal.progress(item.name);
      const model = await follow(client, item, context.signal, (now) => bar.show(now.done, now.total)).finally(bar.end);
      terminal.out(json ? `${JSON.stringify({ model })}\n` : `${model.name}  ${model.path}\n`);
      return 0;
    });
  },
});

/** A new download, or the one that an earlier run began. */
async function begin(
  client: Client,
  chosen: { reference: string; variant?: string },
  repository: string,
  name: string | undefined,
): Promise<Download> {
  try {
    return await client.call('downloads.start', { ...chosen, ...(name !== undefined && { name }) });
  } catch (error) {
    if (!(error instanceof LonghandError) || error.code !== 'conflict') throw error;
    const started = (await client.call('downloads.list')).find((item) => item.repository === repository);
    if (!started) throw error;
    await client.call('downloads.resume', { downloadId: started.id });
    return started;
  }
}

/** Waits until the model is in the library. @throws LonghandError with the reason when it failed; `cancelled` by Ctrl-C */
async function follow(
  client: Client,
  item: Download,
  signal: AbortSignal,
  show: (item: Download) => void,
): Promise<ModelEntry> {
  const known = new Map((await client.call('models.list')).map((model) => [model.id, model.path]));
  await new Promise<void>((resolve, reject) => {
    const look = (list: readonly Download[]) => {
      const now = list.find(({ id }) => id === item.id);
      if (!now) return done(resolve);
      show(now);
      if (now.status.phase === 'failed') {
        const { code, message } = now.status;
        done(() => reject(new LonghandError(code === 'not-found' ? 'not-found' : 'network', message)));
      }
    };
    const stop = client.on('downloads.changed', look);
    const interrupt = () =>
      done(() => reject(new LonghandError('cancelled', '[pull] paused; run the same command to continue')));
    const done = (end: () => void) => {
      stop();
      signal.removeEventListener('abort', interrupt);
      end();
    };
    signal.addEventListener('abort', interrupt);
    if (signal.aborted) interrupt();
    client.call('downloads.list').then(look, reject);
  });
  const models = await client.call('models.list');
  const model = models.find(({ id }) => !known.has(id)) ?? models.find(({ name }) => name === item.name);
  if (!model) throw new LonghandError('internal', `[pull] ${item.name} was downloaded but is not in the list`);
  return model;
}
