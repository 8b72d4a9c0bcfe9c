import { Notification } from 'electron';

/** Says through the desktop that a model is here, to somebody who looks elsewhere: the window itself says so too. */
export function notify(name: string, { looking, show }: { looking: boolean; show: () => void }): void {
  if (looking || !Notification.isSupported()) return;
  const notification = new Notification({ title: 'Longhand', body: `${name} is here, checked and ready` });
  notification.on('click', show);
  notification.show();
}
