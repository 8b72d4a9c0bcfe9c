import { Notification } from 'electron';
import type { DownloadNews } from '../app/protocol/index.ts';
import { fill, words } from './strings.ts';

/** Tells through the desktop what became of a download, while no window is in front: a window shows it itself. */
export function notify({ name, at }: DownloadNews, { looking, show }: { looking: boolean; show: () => void }): void {
  if (looking || !Notification.isSupported()) return;
  const notification = new Notification({ title: 'Longhand', body: fill(words.download[at], { name }) });
  notification.on('click', show);
  notification.show();
}
