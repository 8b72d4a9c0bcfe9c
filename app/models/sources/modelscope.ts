import { basename } from 'node:path';
import { DownloadError } from '../network/download-error.ts';
import { network, request } from '../network/http-request.ts';
import type { RequestPurpose, Via } from '../network/request-purpose.ts';
import { safePath } from '../storage/safe-path.ts';
import { smallJson } from './hub-json.ts';
import type { RemoteFile } from './remote-file.ts';
import type { FileEntry, Repository, Source } from './source.ts';
import { demandFewFiles, toldFile, toldName, toldNumber } from './validate-hub.ts';

type ModelScopeFile = {
  Path: string;
  Type: string;
  Size: number;
  Sha256?: string;
  /** The last commit that changed it, and its time. */
  Revision?: string;
  CommittedDate?: number;
};

/** ModelScope: the same kinds of repositories behind a different API; publishes SHA-256 for every file. */
export function modelScopeSource(url: string, net: Via = () => network): Source {
  const home = url.replace(/\/+$/, '');
  const ask = async (path: string, why: RequestPurpose, signal: AbortSignal): Promise<unknown> => {
    const answer = await request({ url: `${home}${path}` }, null, null, signal, net(why));
    return smallJson(answer.body, new URL(home).host);
  };
  const file = (name: string, commit: string, entry: FileEntry): RemoteFile => {
    const path = entry.name.split('/').map(encodeURIComponent).join('/');
    const at = `${home}/models/${name}/resolve/${encodeURIComponent(commit)}/${path}`;
    return {
      ...entry,
      key: `modelscope:${name}@${commit}/${entry.name}#${entry.sha256 ?? ''}`,
      address: async () => ({ url: at }),
    };
  };
  return {
    id: 'modelscope',
    file,
    host: new URL(home).host,
    async search(query, signal) {
      const found = (await ask(
        `/api/v1/models?Name=${encodeURIComponent(query.text)}&PageSize=${query.limit}`,
        { reason: 'search', about: query.text },
        signal,
      )) as {
        Data?: {
          Models?: { Path: string; Name: string; Downloads?: number; Stars?: number; LastUpdatedTime?: number }[];
        };
      };
      return listOf(found?.Data?.Models).flatMap((model) => {
        if (typeof model?.Path !== 'string' || typeof model.Name !== 'string') return [];
        const name = toldName(`${model.Path}/${model.Name}`);
        if (name === null) return [];
        const changed = toldNumber(model.LastUpdatedTime);
        return {
          source: 'modelscope' as const,
          name,
          downloads: toldNumber(model.Downloads),
          likes: toldNumber(model.Stars),
          updatedAt: changed ? changed * 1000 : null,
          gated: false,
          runs: null,
        };
      });
    },
    async repository(name, revision, signal): Promise<Repository> {
      const wanted = revision ?? 'master';
      const listing = (await ask(
        `/api/v1/models/${name}/repo/files?Recursive=true&Revision=${encodeURIComponent(wanted)}`,
        { reason: 'look', about: name },
        signal,
      )) as {
        Data?: { LatestCommitter?: { Id?: string } | null; Files?: ModelScopeFile[] };
      };
      const all = listOf(listing?.Data?.Files).filter((file) => typeof file === 'object' && file !== null);
      const entries = all.filter((file) => file.Type === 'blob');
      demandFewFiles(entries);
      if (entries.length === 0) throw new DownloadError('not-found', `[modelscope] ${name} at ${wanted} has no files`);
      const commit = commitOf(listing.Data?.LatestCommitter?.Id, all) ?? wanted;
      const files = entries.map((entry) =>
        file(name, commit, toldFile({ path: entry.Path, size: entry.Size, sha256: entry.Sha256 })),
      );
      return { source: 'modelscope', name, commit, gated: false, files };
    },
  };
}

const listOf = <T>(told: readonly T[] | undefined): readonly T[] => (Array.isArray(told) ? told : []);

/** The commit of a listing: if the response does not name it, that of the latest change. */
function commitOf(told: string | undefined, files: readonly ModelScopeFile[]): string | undefined {
  const [newest] = files.toSorted((a, b) => (b.CommittedDate ?? 0) - (a.CommittedDate ?? 0));
  return [told, newest?.Revision].find((name) => typeof name === 'string' && /^[0-9a-f]{40}$/.test(name));
}

/** A single file behind a URL. Its validator takes the place of the commit. */
export function urlSource(net: Via = () => network): Source {
  const file = (address: string, _commit: string, entry: FileEntry): RemoteFile => ({
    ...entry,
    key: `url:${address}`,
    address: async () => ({ url: address }),
  });
  return {
    id: 'url',
    file,
    host: null,
    search: async () => [],
    async repository(address, _revision, signal): Promise<Repository> {
      const url = new URL(address);
      const why = { reason: 'look', about: address } as const;
      const answer = await request({ url: address }, { first: 0, last: 0 }, null, signal, net(why));
      for await (const _ of answer.body) break;
      if (answer.size === null)
        throw new DownloadError('server', `[url] ${url.host} does not say how large the file is`);
      const name = safePath(decodeURIComponent(basename(url.pathname)));
      const commit = answer.etag ?? `${answer.size} bytes`;
      return {
        source: 'url',
        name: address,
        commit,
        gated: false,
        files: [file(address, commit, { name, size: answer.size, sha256: null, etag: answer.etag })],
      };
    },
  };
}
