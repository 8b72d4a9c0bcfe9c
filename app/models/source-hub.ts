import { listFiles, listModels, modelInfo } from '@huggingface/hub';
import { addressOf, type Network, network } from './download/request.ts';
import { safePath } from './download/safe-path.ts';
import { DownloadError, type RemoteFile } from './download/state.ts';
import { runsByCard } from './families.ts';
import type { FileEntry, Repository, Source, Via, Why } from './source.ts';

export type HubOptions = {
  id: 'huggingface' | 'mirror';
  url: string;
  /** Read when it is needed, from the keychain. Sent to this host only. */
  token: () => Promise<string | null>;
  /** The network for a purpose. */
  net?: Via;
};

/** Answers of the hub's interface are small: they are counted whole. */
const counting = (net: Network, signal: AbortSignal) =>
  (async (input, init) => {
    const response = await net.fetch(input, { ...init, signal });
    net.received?.(addressOf(input).host, (await response.clone().arrayBuffer()).byteLength);
    return response;
  }) as typeof fetch;

/** Hugging Face, or any host that speaks its interface. */
export function hubSource(options: HubOptions): Source {
  const hubUrl = options.url.replace(/\/+$/, '');
  const { net = () => network } = options;
  const common = async (why: Why, signal: AbortSignal) => {
    const token = await options.token();
    return { hubUrl, ...(token && { accessToken: token }), fetch: counting(net(why), signal) };
  };

  const file = (name: string, commit: string, entry: FileEntry): RemoteFile => ({
    ...entry,
    key: `${options.id}:${name}@${commit}/${entry.name}`,
    address: async () => {
      const token = await options.token();
      const url = `${hubUrl}/${name}/resolve/${commit}/${entry.name.split('/').map(encodeURIComponent).join('/')}`;
      return token ? { url, token } : { url };
    },
  });

  return {
    id: options.id,
    file,
    host: new URL(hubUrl).host,
    async search(query, signal) {
      const found = [];
      const models = listModels({
        ...(await common({ reason: 'search', about: query.text }, signal)),
        search: { query: query.text },
        additionalFields: ['config', 'tags'],
        limit: query.limit * MOST_PASSED_OVER,
        sort: 'downloads',
      });
      try {
        for await (const model of models) {
          const runs = runsByCard(modelTypeOf(model.config), model.tags);
          if (query.onlyRunning && (runs === false || !model.tags.some((tag) => FORMS.has(tag)))) continue;
          found.push({
            source: options.id,
            name: model.name,
            downloads: model.downloads,
            likes: model.likes,
            updatedAt: model.updatedAt.getTime(),
            gated: model.gated !== false,
            runs,
          });
          if (found.length === query.limit) break;
        }
      } catch (error) {
        throw asDownloadError(error, signal);
      }
      return found;
    },
    async repository(name, revision, signal): Promise<Repository> {
      try {
        const shared = await common({ reason: 'look', about: name }, signal);
        const info = await modelInfo({
          ...shared,
          name,
          ...(revision && { revision }),
          additionalFields: ['sha'],
        });
        const commit = info.sha ?? revision ?? 'main';
        const files: RemoteFile[] = [];
        for await (const entry of listFiles({
          ...shared,
          repo: { type: 'model', name },
          recursive: true,
          revision: commit,
        })) {
          if (entry.type !== 'file') continue;
          const path = safePath(entry.path);
          files.push(
            file(name, commit, {
              name: path,
              size: entry.lfs?.size ?? entry.size,
              sha256: entry.lfs?.oid ?? null,
              etag: null,
            }),
          );
        }
        return { source: options.id, name, commit, gated: info.gated !== false, files };
      } catch (error) {
        throw asDownloadError(error, signal);
      }
    },
  };
}

const modelTypeOf = (config: unknown): string | undefined =>
  typeof config === 'object' && config !== null && 'model_type' in config && typeof config.model_type === 'string'
    ? config.model_type
    : undefined;

/** Containers that can be read, as the hub tags them. */
const FORMS = new Set(['gguf', 'safetensors', 'mlx']);
/** How many times as many as are wanted are asked for, since some of them do not run. */
const MOST_PASSED_OVER = 4;

/** The library's errors carry a status; everything else that fetch throws is the network. */
function asDownloadError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof DownloadError || signal.aborted) return error;
  const status = (error as { statusCode?: number }).statusCode;
  const message = `[hub] ${error instanceof Error ? error.message : String(error)}`;
  if (status === 401 || status === 403) return new DownloadError('gated', message, { cause: error });
  if (status === 404) return new DownloadError('not-found', message, { cause: error });
  if (status === 429) return new DownloadError('rate-limited', message, { transient: true, cause: error });
  if (status !== undefined) return new DownloadError('server', message, { transient: status >= 500, cause: error });
  return new DownloadError('network', message, { transient: true, cause: error });
}
