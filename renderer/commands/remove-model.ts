import type { ModelEntry } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { t } from '../i18n.ts';
import { useModels } from '../stores/models/store.ts';
import type { Formats } from '../ui/format.ts';
import { useToasts } from '../ui/toast.tsx';
import { keysHint } from './command-keys.ts';

/** Removes at once, says how much space that frees, and offers undo. */
export async function removeModel(model: ModelEntry, formats: Formats): Promise<void> {
  const { freed } = await core.call('models.remove', { modelId: model.id });
  useModels.setState({ installed: null, details: null });
  useToasts.getState().show({
    text:
      freed > 0
        ? t('models.removed', { name: model.name, size: formats.fileSize(freed) })
        : t('models.unlinked', { name: model.name }),
    action: t('undo'),
    ...keysHint('undo'),
    onAction: () => void core.call('models.restore', { modelId: model.id }),
  });
}
