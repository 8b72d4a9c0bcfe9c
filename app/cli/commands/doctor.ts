import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { availableParallelism, freemem, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { defaultDataFolder } from '../../store/folder/data-dir.ts';
import { table } from '../runtime/arguments.ts';
import { type Context, command, MODEL_FLAGS } from '../runtime/command.ts';
import { addonOf, modelPath, textOf } from '../runtime/open-model.ts';
import { bytes } from '../runtime/terminal.ts';

type Finding = { readonly what: string; readonly good: boolean; readonly detail: string };

export const doctor = command({
  name: 'doctor',
  summary: 'Check this installation.',
  usage: '',
  flags: { 'metal-emulator': MODEL_FLAGS['metal-emulator'] },
  async run(context, { 'metal-emulator': standin = false }) {
    const { terminal } = context;
    const findings: Finding[] = [];
    for (const [what, look] of Object.entries(CHECKS)) {
      try {
        findings.push({ what, good: true, detail: await look(context, standin) });
      } catch (error) {
        findings.push({ what, good: false, detail: error instanceof Error ? error.message : String(error) });
      }
    }
    const good = findings.every((finding) => finding.good);
    if (context.json) terminal.out(`${JSON.stringify({ good, findings })}\n`);
    else {
      const rows = findings.map((finding) => [
        finding.good ? terminal.green('✓') : terminal.red('✗'),
        finding.what,
        finding.detail,
      ]);
      terminal.out(`${table(rows)}\n`);
    }
    return good ? 0 : 1;
  },
});

const CHECKS: Readonly<Record<string, (context: Context, standin: boolean) => string | Promise<string>>> = {
  node: () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    if (major < 22 || (major === 22 && minor < 18)) throw new Error(`${process.version}; 22.18 or newer is needed`);
    return `${process.version} on ${process.platform} ${process.arch} ${release()}`;
  },
  memory: () => `${bytes(freemem())} of ${bytes(totalmem())} free, ${availableParallelism()} threads`,
  engine: (context) => {
    const { version, commit, compiler } = addonOf(context).build;
    return `${version} ${commit}, ${compiler}`;
  },
  devices: async (context, standin) => {
    const usable = (await addonOf(context, standin).devices({ standin })).filter(({ available }) => available);
    if (usable.length === 0) throw new Error('no usable device');
    return usable
      .map(({ id, name, tuning }) => `${id} (${[name, tuning].filter(Boolean).join('; tuning: ')})`)
      .join(', ');
  },
  'built-in model': async (context) => {
    const path = modelPath(context);
    const addon = addonOf(context);
    const { tokenizer } = await textOf(addon, path);
    const native = await addon.load(path);
    try {
      const session = native.createSession();
      const prompt = Int32Array.from(tokenizer.encodeText('Hello'));
      const { tokens } = await session.generate(prompt, { maxTokens: 4, temperature: 0 });
      session.close();
      if (tokens.length === 0) throw new Error('loads, but writes nothing');
      return `loads and writes ${tokens.length} tokens`;
    } finally {
      native.close();
    }
  },
  'data folder': () => {
    const folder = defaultDataFolder();
    let there = folder;
    while (!existsSync(there)) there = dirname(there);
    const { bavail, bsize } = statfsSync(there);
    if (existsSync(folder)) accessSync(folder, constants.W_OK);
    return `${folder}${existsSync(folder) ? '' : ' (created at the first start)'}, ${bytes(bavail * bsize)} free`;
  },
};
