import { Notification } from 'electron';
import type { DownloadNotification } from '../app/protocol/index.ts';
import { fill, words } from './strings.ts';

/** References are held until click or close: a garbage-collected notification loses its click handler. */
const shown = new Set<Notification>();

/** Shows a desktop notification about a download if no window is in front; a focused window shows it itself. */
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
