import { listFiles, listModels, modelInfo } from '@huggingface/hub';
import { DownloadError } from '../network/download-error.ts';
import { network } from '../network/http-request.ts';
import type { RequestPurpose, Via } from '../network/request-purpose.ts';
import { runsByCard } from '../registry/supported-architectures.ts';
import { askOnly, demandNoPassword, sentenceOf } from './hub-json.ts';
import type { RemoteFile } from './remote-file.ts';
import type { FileEntry, Repository, Source } from './source.ts';
import { demandFewFiles, toldCommit, toldFile, toldName, toldNumber } from './validate-hub.ts';

export type HubOptions = {
  id: 'huggingface' | 'mirror';
  url: string;
  /** Read from the keychain when needed. Sent to this host only. */
  token: () => Promise<string | null>;
  /** The network for a purpose. */
  net?: Via;
};

/** Hugging Face, or any host with the same API. */
export function hubSource(options: HubOptions): Source {
  const hubUrl = options.url.replace(/\/+$/, '');
  const { net = () => network } = options;
  const common = async (why: RequestPurpose, signal: AbortSignal) => {
    demandNoPassword(hubUrl);
    const token = await options.token();
    return { hubUrl, ...(token && { accessToken: token }), fetch: askOnly(hubUrl, net(why), signal) };
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
      try {
        const models = listModels({
          ...(await common({ reason: 'search', about: query.text }, signal)),
          search: { query: query.text },
          additionalFields: ['config', 'tags'],
          limit: query.limit * MAX_SKIPPED,
          sort: 'downloads',
        });
        for await (const model of models) {
          const name = toldName(model.name);
          if (name === null) continue;
          const tags = toldTags(model.tags);
          const runs = runsByCard(modelTypeOf(model.config), tags);
          if (query.onlyRunning && (runs === false || !tags.some((tag) => FORMS.has(tag)))) continue;
          found.push({
            source: options.id,
            name,
            downloads: toldNumber(model.downloads),
            likes: toldNumber(model.likes),
            updatedAt: toldNumber(model.updatedAt.getTime()),
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
        const commit = toldCommit(info.sha ?? revision ?? 'main');
        const files: RemoteFile[] = [];
        for await (const entry of listFiles({
          ...shared,
          repo: { type: 'model', name },
          recursive: true,
          revision: commit,
        })) {
          if (entry.type !== 'file') continue;
          const { path, size, lfs } = entry;
          files.push(file(name, commit, toldFile({ path, size: lfs?.size ?? size, sha256: lfs?.oid })));
          demandFewFiles(files);
        }
        return { source: options.id, name, commit, gated: info.gated !== false, files };
      } catch (error) {
        throw asDownloadError(error, signal);
      }
    },
  };
}

const toldTags = (tags: unknown): string[] =>
  Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];

const modelTypeOf = (config: unknown): string | undefined =>
  typeof config === 'object' && config !== null && 'model_type' in config && typeof config.model_type === 'string'
    ? config.model_type
    : undefined;

/** Supported file formats, as tagged by the hub. */
const FORMS = new Set(['gguf', 'safetensors', 'mlx']);
/** Overfetch factor, since some results are unsupported. */
const MAX_SKIPPED = 4;

/** The library's errors have a status; everything else that fetch throws is a network error. */
function asDownloadError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof DownloadError || signal.aborted) return error;
  const status = (error as { statusCode?: number }).statusCode;
  const message = `[hub] ${sentenceOf(error)}`;
  if (status === 401 || status === 403) return new DownloadError('gated', message, { cause: error });
  if (status === 404) return new DownloadError('not-found', message, { cause: error });
  if (status === 429) return new DownloadError('rate-limited', message, { transient: true, cause: error });
  if (status !== undefined) return new DownloadError('server', message, { transient: status >= 500, cause: error });
  return new DownloadError('network', message, { transient: true, cause: error });
}
