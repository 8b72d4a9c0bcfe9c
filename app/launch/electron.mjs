// Downloads Electron's binary, which is not part of its npm package.
import { run } from './run.mjs';
import { sayStep } from './say.mjs';
import { electronBinary, electronInstaller } from './shells.mjs';

const REACH_MS = 4000;

/** The host it comes from. */
export const electronHost = (env = process.env) =>
  env.ELECTRON_MIRROR ?? env.npm_config_electron_mirror ?? 'https://github.com';

/** @returns {Promise<string | null>} the program; null if the host cannot be reached or does not have this version */
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
