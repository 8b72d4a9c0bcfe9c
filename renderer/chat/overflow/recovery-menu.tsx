import { useTranslation } from 'react-i18next';
import type { EngineStatus, Failure, MessageId } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { useFormats } from '../../i18n.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions } from '../../stores/chat/store.ts';
import { useEngine } from '../../stores/engine.ts';
import { useSettings } from '../../stores/settings.ts';
import { useShell } from '../../stores/shell.ts';
import { Button } from '../../ui/button.tsx';
import { smallerContext } from './context-size.ts';
import { type RecoveryAction, recoveryActions } from './recovery-actions.ts';

type RecoveryMenuProps = {
  failure: Failure /** The answer that failed, to be gone on with. */;
  resumes: MessageId | null;
};

/** What may help after a failure, besides trying again. */
export function RecoveryMenu({ failure, resumes }: RecoveryMenuProps) {
  const status = useEngine((state) => state.status);
  return recoveryActions(failure.code, status.phase).map((way) => (
    <RecoveryItem key={way} way={way} failure={failure} resumes={resumes} status={status} />
  ));
}

function RecoveryItem({
  way,
  failure,
  resumes,
  status,
}: RecoveryMenuProps & { way: RecoveryAction; status: EngineStatus }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const go = useShell((state) => state.go);
  const device = useSettings((state) => state.values.device);
  const smaller = useSmallerContext(failure);
  const { setOverlay, choose, makeRoom } = actions;

  /** Restarts the engine with other settings and continues the answer. */
  const change = async (settings: { contextLength: number } | { device: string }) => {
    await useSettings.getState().set(settings);
    if (status.phase === 'stopped') await core.call('engine.restart');
    if (resumes) await actions.resume(resumes);
    else actions.clearRefusal();
  };
  const run: Record<RecoveryAction, () => void> = {
    'smaller-context': () => smaller && void change({ contextLength: smaller }),
    'use-cpu': () => void change({ device: 'cpu' }),
    'make-room': () => resumes && void makeRoom(resumes),
    'choose-model': () => setOverlay({ kind: 'model-picker' }),
    'engine-settings': () => go({ kind: 'settings', section: 'engine' }),
    'storage-settings': () => go({ kind: 'settings', section: 'storage' }),
    'restart-engine': () => void core.call('engine.restart'),
    'new-chat': () => void choose(null),
  };
  const useless =
    (way === 'smaller-context' && smaller === null) ||
    (way === 'use-cpu' && device === 'cpu') ||
    (way === 'make-room' && resumes === null);
  if (useless) return null;
  return (
    <Button kind="default" onClick={run[way]}>
      {way === 'smaller-context'
        ? t('ways.smaller-context', { size: formats.contextSize(smaller ?? 0) })
        : t(`ways.${way}`)}
    </Button>
  );
}

/** Half of the context that was too large, or what the failure says would fit. */
function useSmallerContext({ details }: Failure): number | null {
  const model = useChatModel();
  const wanted = useSettings((state) => state.values.contextLength);
  const longest = model?.description?.contextLength ?? 0;
  const fits = typeof details?.longestContext === 'number' ? details.longestContext : null;
  return smallerContext(Math.min(wanted ?? longest, longest), fits);
}
