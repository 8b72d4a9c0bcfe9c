import http from 'node:http';
import type { Settings, SourceId } from '../protocol/index.ts';
import type { Source } from './source.ts';
import { hubSource } from './source-hub.ts';
import { modelScopeSource, urlSource } from './source-other.ts';
import type { Tokens } from './tokens.ts';

export type Sources = {
  /** Undefined for a mirror that is not set up (any more). */
  byId(id: string): Source | undefined;
  /** The one that names like `org/name` belong to. */
  hub(): Source;
};

/** Where models may come from. Nothing here speaks to the network before it is asked something. */
export function createSources(settings: () => Settings, tokens: Tokens): Sources {
  const modelscope = modelScopeSource('https://www.modelscope.cn');
  const url = urlSource();
  const hubAt = (id: 'huggingface' | 'mirror', address: string) =>
    hubSource({ id, url: address, token: () => tokens.read(id) });
  const huggingface = hubAt('huggingface', 'https://huggingface.co');
  const mirror = () => {
    const address = settings().hubMirror;
    return address === null ? undefined : hubAt('mirror', address);
  };
  return {
    byId(id: SourceId | string) {
      if (id === 'mirror') return mirror();
      return [huggingface, modelscope, url].find((source) => source.id === id);
    },
    hub: () => mirror() ?? huggingface,
  };
}

/** HTTP_PROXY, HTTPS_PROXY and NO_PROXY count for every request; NODE_EXTRA_CA_CERTS is read by Node itself. */
export function followProxyOfEnvironment(): void {
  const { HTTP_PROXY, HTTPS_PROXY, http_proxy, https_proxy } = process.env;
  if (HTTP_PROXY || HTTPS_PROXY || http_proxy || https_proxy) http.setGlobalProxyFromEnv();
}
