import { safeStorage } from 'electron';

/** Seals and opens texts with a key of the operating system. */
export type Keychain = { seal(text: string): Promise<string>; open(sealed: string): Promise<string> };

/** Null where there is none: on Linux without a keyring Electron would use a key that everybody knows. */
export async function openKeychain(platform = process.platform): Promise<Keychain | null> {
  if (!(await safeStorage.isAsyncEncryptionAvailable().catch(() => false))) return null;
  if (platform === 'linux' && safeStorage.getSelectedStorageBackend() === 'basic_text') return null;
  return {
    seal: async (text) => (await safeStorage.encryptStringAsync(text)).toString('base64'),
    open: async (sealed) => (await safeStorage.decryptStringAsync(Buffer.from(sealed, 'base64'))).result,
  };
}
