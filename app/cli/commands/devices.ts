import { table } from '../runtime/arguments.ts';
import { command, MODEL_FLAGS } from '../runtime/command.ts';
import { addonOf } from '../runtime/open-model.ts';
import { bytes } from '../runtime/terminal.ts';

export const devices = command({
  name: 'devices',
  summary: 'List the devices models can run on, and why others cannot be used.',
  usage: '',
  flags: { 'metal-emulator': MODEL_FLAGS['metal-emulator'] },
  async run(context, { 'metal-emulator': standin = false }) {
    const { terminal } = context;
    const all = await addonOf(context, standin).devices({ standin });
    if (context.json) {
      terminal.out(`${JSON.stringify({ devices: all })}\n`);
      return 0;
    }
    const rows = all.map((device) => [
      device.available ? terminal.green('✓') : terminal.dim('–'),
      device.id,
      device.name,
      device.available
        ? `${device.detail}, ${bytes(device.memoryBytes)}${device.unified ? ' shared with the system' : ''}`
        : (device.reason ?? ''),
    ]);
    terminal.out(`${table(rows)}\n`);
    for (const { id, tuning } of all) if (tuning) terminal.out(`tuning of ${id}: ${tuning}\n`);
    return 0;
  },
});
