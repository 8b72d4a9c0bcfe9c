import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, Notification } from 'electron';
import { words } from './strings.ts';

let shown: Notification | null = null;

/** The app goes on without a window: that is said the first time, for there is nothing else to see of it. */
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
