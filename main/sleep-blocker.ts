import { powerSaveBlocker } from 'electron';

/** Writing an answer, or downloading and importing. */
export type Work = 'answer' | 'coming';

/** Keeps the machine awake while there is work; the display may sleep. */
export function keepAwake(): (work: Work, busy: boolean) => void {
  const going = new Set<Work>();
  let blocker: number | null = null;
  return (work, busy) => {
    if (busy) going.add(work);
    else going.delete(work);
    if (going.size > 0 && blocker === null) blocker = powerSaveBlocker.start('prevent-app-suspension');
    if (going.size === 0 && blocker !== null) {
      powerSaveBlocker.stop(blocker);
      blocker = null;
    }
  };
}
