import type { EngineStatus, ErrorCode } from '../../../app/protocol/index.ts';

export type RecoveryAction =
  | 'smaller-context'
  | 'use-cpu'
  | 'make-room'
  | 'choose-model'
  | 'engine-settings'
  | 'storage-settings'
  | 'restart-engine'
  | 'new-chat';

const ways: Partial<Record<ErrorCode, RecoveryAction[]>> = {
  'model-missing': ['choose-model'],
  'model-unsupported': ['choose-model'],
  'model-broken': ['choose-model'],
  'out-of-memory': ['smaller-context', 'choose-model', 'engine-settings'],
  'context-full': ['make-room', 'engine-settings', 'new-chat'],
  'engine-failed': ['restart-engine'],
  'remote-failed': ['choose-model'],
  'template-failed': ['choose-model'],
  'disk-full': ['storage-settings'],
  'read-only': ['storage-settings'],
};

/** An engine that crashed once restarts by itself; after three crashes it needs a smaller load or another device. */
export const recoveryActions = (code: ErrorCode, engine: EngineStatus['phase']): RecoveryAction[] => {
  if (code === 'engine-lost' && engine === 'stopped') {
    return ['smaller-context', 'use-cpu', 'choose-model', 'restart-engine'];
  }
  return ways[code] ?? [];
};
