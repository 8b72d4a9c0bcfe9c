// Fetches Electron's binary, which its npm package does not carry.
import { run } from './run.mjs';
import { sayStep } from './say.mjs';
import { electronBinary, electronInstaller } from './shells.mjs';

const REACH_MS = 4000;

/** Where it would come from. */
export const electronHost = (env = process.env) =>
  env.ELECTRON_MIRROR ?? env.npm_config_electron_mirror ?? 'https://github.com';

/** @returns {Promise<string | null>} the program; null where the host cannot be reached or has no such version */
export async function fetchElectron(root) {
  const installer = electronInstaller(root);
  if (!installer) return null;
  try {
    await fetch(electronHost(), { method: 'HEAD', signal: AbortSignal.timeout(REACH_MS) });
    sayStep('Downloading Electron');
    await run(process.execPath, [installer], { cwd: root });
  } catch {
    return null;
  }
  return electronBinary(root);
}
