import { powerSaveBlocker } from 'electron';

/** The machine does not fall asleep while an answer is written; the display may. */
export function keepAwake(): (busy: boolean) => void {
  let blocker: number | null = null;
  return (busy) => {
    if (busy && blocker === null) blocker = powerSaveBlocker.start('prevent-app-suspension');
    if (!busy && blocker !== null) {
      powerSaveBlocker.stop(blocker);
      blocker = null;
    }
  };
}
