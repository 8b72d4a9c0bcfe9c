// The `longhand` command beside an app that is running, whose core all commands use: none has to start one of its own.
import { onTestFinished } from 'vitest';
import { startBrowserHost } from '../../../app/server/web-server.ts';
import { longhand, type Ran } from './cli.ts';
import { connect, newFolder, places, realEngine } from './core.ts';
import { startScripted } from './scripted-core.ts';

export async function appWithCommands() {
  const dataFolder = newFolder();
  const here = newFolder();
  const host = await startScripted(dataFolder, realEngine());
  const served = await startBrowserHost({ host, renderer: places.renderer, port: 0 });
  host.announce(served.reach);
  onTestFinished(async () => {
    await served.close();
    await host.close();
  });
  const run = (args: readonly string[], isTTY = false): Promise<Ran> =>
    longhand(here, [...args, '--data', dataFolder], undefined, isTTY);
  return {
    client: connect(host),
    dataFolder,
    here,
    run,
    ran: (...args: string[]) => run(args).then(({ code, out, err }) => [code, out, err] as const),
  };
}
