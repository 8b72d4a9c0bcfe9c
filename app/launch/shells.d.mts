export function electronBinary(root: string, env?: Record<string, string | undefined>): string | null;
export function hasDisplay(env?: Record<string, string | undefined>, platform?: string): boolean;
export type Shell =
  | { shell: 'electron'; program: string; args: string[] }
  | { shell: 'browser' | 'terminal'; program: string; args: string[]; because: string };
export function chooseShell(
  root: string,
  around?: { env?: Record<string, string | undefined>; platform?: string; args?: string[] },
): Shell;
export function electronInstaller(root: string): string | null;
