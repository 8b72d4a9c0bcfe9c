import { Notification } from 'electron';
import type { DownloadNews } from '../app/protocol/index.ts';

const sentences: Record<DownloadNews['at'], (name: string) => string> = {
  arrived: (name) => `${name} is here, checked and ready`,
  failed: (name) => `${name} could not be fetched; what came of it is kept`,
  waitingForSpace: (name) => `${name} waits until there is room on the disk`,
  changed: (name) => `${name} is another file on its server now: which one shall it be?`,
};

/** Says through the desktop what became of a download, to somebody who looks elsewhere: the window itself says so too. */
export function notify({ name, at }: DownloadNews, { looking, show }: { looking: boolean; show: () => void }): void {
  if (looking || !Notification.isSupported()) return;
  const notification = new Notification({ title: 'Longhand', body: sentences[at](name) });
  notification.on('click', show);
  notification.show();
}
