import type { Download, DownloadNotification, DownloadStatus } from '../../protocol/index.ts';
import type { DownloadRow } from '../../store/models/downloads.ts';
import { ggufOf } from '../storage/folder-layout.ts';
import { labelOf } from '../storage/quantisation-label.ts';
import type { DownloadState } from './download-state.ts';

//  One download in the queue, and its display state.

export type Item = { row: DownloadRow; status: DownloadStatus; doneBefore: number; doneNow: number };

export function statusOf(state: DownloadState): DownloadStatus | null {
  switch (state.phase) {
    case 'transferring':
      return { phase: 'running', rate: state.rate, secondsLeft: state.secondsLeft };
    case 'waitingForSpace':
      return { phase: 'waitingForSpace', missing: state.missing };
    case 'waitingForNetwork':
      return { phase: 'waitingForNetwork', attempt: state.attempt, reason: state.reason };
    case 'verifying':
      return { phase: 'checking', checked: state.checked };
    case 'repairing':
      return { phase: 'repairing', damaged: state.damaged };
    case 'failed':
      if (state.code === 'remote-changed') return { phase: 'changed' };
      return { phase: 'failed', code: state.code, message: state.message };
    default:
      return null;
  }
}

export const isStuck = (at: DownloadStatus['phase']): at is Exclude<DownloadNotification['kind'], 'arrived'> =>
  at === 'failed' || at === 'waitingForSpace' || at === 'changed';

export const isGoing = ({ phase }: DownloadStatus): boolean =>
  phase !== 'paused' && phase !== 'failed' && phase !== 'changed' && phase !== 'waitingForLibrary';

export const shown = ({ row, status, doneBefore, doneNow }: Item): Download => ({
  id: row.id,
  name: row.name,
  source: row.source,
  repository: row.repository,
  variant: labelOf(ggufOf(row) ?? ''),
  done: doneBefore + doneNow,
  total: totalOf(row),
  status,
});

export const totalOf = ({ files }: DownloadRow): number => files.reduce((sum, file) => sum + file.size, 0);
