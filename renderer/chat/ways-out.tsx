import { useTranslation } from 'react-i18next';
import type { ErrorCode } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useShell } from '../shell/store.ts';
import { Button } from '../ui/button.tsx';
import { actions } from './store.ts';

export type Way = 'choose-model' | 'engine-settings' | 'storage-settings' | 'restart-engine' | 'new-chat';

const ways: Partial<Record<ErrorCode, Way[]>> = {
  'model-missing': ['choose-model'],
  'model-unsupported': ['choose-model'],
  'model-broken': ['choose-model'],
  'out-of-memory': ['engine-settings', 'choose-model'],
  'context-full': ['engine-settings', 'new-chat'],
  'engine-lost': [],
  'engine-failed': ['restart-engine'],
  'template-failed': ['choose-model'],
  'disk-full': ['storage-settings'],
  'read-only': ['storage-settings'],
};

/** What may help against a failure, besides trying again. */
export const waysOut = (code: ErrorCode): Way[] => ways[code] ?? [];

export function WayOut({ way }: { way: Way }) {
  const { t } = useTranslation();
  const go = useShell((state) => state.go);
  const { setOverlay, choose } = actions;
  const run: Record<Way, () => void> = {
    'choose-model': () => setOverlay({ at: 'model-picker' }),
    'engine-settings': () => go({ at: 'settings', section: 'engine' }),
    'storage-settings': () => go({ at: 'settings', section: 'storage' }),
    'restart-engine': () => void core.call('engine.restart'),
    'new-chat': () => void choose(null),
  };
  return (
    <Button kind="default" onClick={run[way]}>
      {t(`ways.${way}`)}
    </Button>
  );
}
