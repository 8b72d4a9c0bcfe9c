import { isElectron, takeScreenshot } from '../bridge.ts';
import { t } from '../i18n.ts';
import { attachFiles } from '../lib/attach-files.ts';
import { useToasts } from '../ui/toast.tsx';

//  A picture of another window: through the desktop shell if there is one, otherwise through the browser's own dialog.

export const canTakeScreenshot = (): boolean => isElectron() || navigator.mediaDevices?.getDisplayMedia !== undefined;

export async function attachScreenshot(): Promise<void> {
  const taken = takeScreenshot();
  const files = await (taken ?? shared()).catch(() => {
    failed();
    return [];
  });
  if (files.length > 0) attachFiles(files);
}

const failed = () =>
  useToasts.getState().show({
    text: t('attachment.noScreenshot'),
    action: t('commands.retry'),
    onAction: () => void attachScreenshot(),
  });

/** One frame of the shared window. None if the dialog is cancelled, or the system provides no picture. */
async function shared(): Promise<File[]> {
  const stream = await navigator.mediaDevices.getDisplayMedia({ video: true }).catch((error: DOMException) => {
    if (error.name !== 'NotAllowedError') failed();
    return null;
  });
  if (!stream) return [];
  try {
    const video = document.createElement('video');
    video.muted = true;
    video.srcObject = stream;
    await video.play();
    const canvas = document.createElement('canvas');
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    canvas.getContext('2d')?.drawImage(video, 0, 0);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    return blob ? [new File([blob], `${t('attachment.screenshot')}.png`, { type: 'image/png' })] : [];
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}
