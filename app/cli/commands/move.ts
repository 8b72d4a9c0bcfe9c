import { resolve } from 'node:path';
import { type Client, type Library, LonghandError } from '../../protocol/index.ts';
import { command } from '../runtime/command.ts';
import { bytes, type Terminal } from '../runtime/terminal.ts';
import { DATA_FLAG, withCore } from '../runtime/with-core.ts';

export const move = command({
  name: 'move',
  summary: 'Move downloaded models to another folder or disk. Ctrl-C pauses. Without a folder, show where they are.',
  usage: '[FOLDER]',
  words: [0, 1],
  flags: {
    ...DATA_FLAG,
    home: { kind: 'yes', help: 'move back to the data folder' },
    plan: { kind: 'yes', help: 'only show what would be moved' },
    stop: { kind: 'yes', help: 'cancel a move in progress' },
  },
  async run(context, values, [given]) {
    const { terminal, json } = context;
    return withCore(context, values.data, async (client) => {
      const before = await client.call('library.state');
      const folder = values.home ? before.home : given && resolve(context.places.here, given);
      if (folder && values.plan) {
        const plan = await client.call('library.plan', { folder });
        const more = plan.more > 0 ? ` (${bytes(plan.more)} of it duplicates: that disk has no hard links)` : '';
        const takes = plan.copies
          ? `${bytes(plan.bytes)} to copy${more}, ${bytes(plan.free)} free`
          : 'on the same disk';
        terminal.out(json ? `${JSON.stringify({ plan })}\n` : `${plan.folder}  ${takes}\n`);
        return plan.missing > 0 ? 1 : 0;
      }
      if (values.stop) await client.call('library.cancel');
      else if (folder && before.move === null) await client.call('library.move', { folder });
      else if (folder) await client.call('library.resume');
      if (folder || values.stop) await follow(client, terminal, context.signal);
      const library = await client.call('library.state');
      terminal.out(
        json ? `${JSON.stringify({ library })}\n` : `${library.folder}${library.unmounted ? '  (missing)' : ''}\n`,
      );
      return 0;
    });
  },
});

/** Waits until the move is over. @throws LonghandError with the reason it stopped; `cancelled` by Ctrl-C */
async function follow(client: Client, terminal: Terminal, signal: AbortSignal): Promise<void> {
  const bar = terminal.progress('models');
  let stop = () => {};
  try {
    await new Promise<void>((done, fail) => {
      const look = ({ move: now }: Library) => {
        if (!now || now.status.phase === 'clearingLater') return done();
        bar.show(now.done, now.total);
        if (now.status.phase !== 'stopped') return;
        const { code, message, details } = now.status.failure;
        fail(new LonghandError(code, message, details ? { details } : {}));
      };
      stop = client.on('library.changed', look);
      const interrupt = () => {
        const said = new LonghandError(
          'cancelled',
          '[move] paused; run the same command to continue, or --stop to cancel',
        );
        client.call('library.pause').finally(() => fail(said));
      };
      signal.addEventListener('abort', interrupt, { once: true });
      if (signal.aborted) interrupt();
      client.call('library.state').then(look, fail);
    });
  } finally {
    stop();
    bar.end();
  }
}
