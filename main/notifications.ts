import { Notification } from 'electron';
import type { DownloadNotification } from '../app/protocol/index.ts';
import { fill, words } from './strings.ts';

/** Held until they are clicked or closed: one that nobody holds is collected as garbage, and its click is lost with it. */
const shown = new Set<Notification>();

/** Tells through the desktop what became of a download, while no window is in front: a window shows it itself. */
export function notify(
  { name, kind }: DownloadNotification,
  { looking, show }: { looking: boolean; show: () => void },
): void {
  if (looking || !Notification.isSupported()) return;
  const notification = new Notification({ title: 'Longhand', body: fill(words.download[kind], { name }) });
  const forget = () => shown.delete(notification);
  shown.add(notification);
  notification.on('click', () => {
    forget();
    show();
  });
  notification.on('close', forget);
  notification.on('failed', forget);
  notification.show();
}
