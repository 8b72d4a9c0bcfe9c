import { table } from './arguments.ts';
import { command } from './command.ts';
import { addonOf } from './model.ts';
import { bytes } from './terminal.ts';

export const devices = command({
  name: 'devices',
  summary: 'What models can run on here, and why not on the rest.',
  usage: '',
  flags: {},
  async run(context) {
    const { terminal } = context;
    const all = await addonOf(context).devices();
    if (context.json) {
      terminal.out(`${JSON.stringify({ devices: all })}\n`);
      return 0;
    }
    const rows = all.map((device) => [
      device.available ? terminal.green('✓') : terminal.dim('–'),
      device.id,
      device.name,
      device.available
        ? `${device.detail} ${bytes(device.memoryBytes)}${device.unified ? ' shared' : ''}`
        : (device.reason ?? ''),
    ]);
    terminal.out(`${table(rows)}\n`);
    return 0;
  },
});
