import type { Settings, SourceId } from '../../protocol/index.ts';
import type { Via } from '../network/request-purpose.ts';
import type { AccessTokens } from './access-tokens.ts';
import { hubSource } from './hugging-face.ts';
import { folderSource } from './local-folder.ts';
import { modelScopeSource, urlSource } from './modelscope.ts';
import type { Source } from './source.ts';

export type SourceRegistry = {
  /** Undefined for a mirror that is not configured (any more). */
  byId(id: string): Source | undefined;
  /** The source of names like `org/name`. */
  hub(): Source;
};

/** The sources of models. None contacts the network before it is used. */
export function createSourceRegistry(settings: () => Settings, tokens: AccessTokens, net: Via): SourceRegistry {
  const modelscope = modelScopeSource('https://www.modelscope.cn', net);
  const url = urlSource(net);
  const folder = folderSource(() => settings().extraModelFolder);
  const hubAt = (id: 'huggingface' | 'mirror', address: string) =>
    hubSource({ id, url: address, token: () => tokens.read(id), net });
  const huggingface = hubAt('huggingface', 'https://huggingface.co');
  const mirror = () => {
    const address = settings().hubEndpoint;
    return address === null ? undefined : hubAt('mirror', address);
  };
  return {
    byId(id: SourceId | string) {
      if (id === 'mirror') return mirror();
      return [huggingface, modelscope, url, folder].find((source) => source.id === id);
    },
    hub: () => mirror() ?? huggingface,
  };
}
