import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, Notification } from 'electron';
import { words } from './strings.ts';

let shown: Notification | null = null;

/** Tells the user, the first time, that the app keeps running without a window, since nothing else shows it. */
export function sayThatItGoesOn(): void {
  const said = join(app.getPath('userData'), 'goes-on-was-said');
  if (existsSync(said) || !Notification.isSupported()) return;
  try {
    writeFileSync(said, '');
  } catch (error) {
    console.warn(`[background] will be said again: ${(error as Error).message}`);
  }
  const { title, mac, tray } = words.goesOn;
  shown = new Notification({ title, body: process.platform === 'darwin' ? mac : tray });
  shown.show();
}
