import { type Handlers, LonghandError } from '../protocol/index.ts';
import type { createDownloadQueue } from './downloads/download-queue.ts';
import { needSupported } from './registry/model-errors.ts';
import { FOLDER } from './sources/remote-headers.ts';
import type { createRemoteInspector } from './sources/remote-inspector.ts';
import type { createSourceRegistry } from './sources/source-registry.ts';
import { ggufOf } from './storage/folder-layout.ts';
import { nameOfRepository } from './storage/model-name.ts';

type Services = {
  downloads: ReturnType<typeof createDownloadQueue>;
  inspector: ReturnType<typeof createRemoteInspector>;
  sources: ReturnType<typeof createSourceRegistry>;
};

type DownloadHandlers = Pick<
  Handlers,
  | 'downloads.list'
  | 'downloads.start'
  | 'downloads.pause'
  | 'downloads.resume'
  | 'downloads.cancel'
  | 'downloads.update'
  | 'downloads.move'
>;

/** The calls about downloads. */
export const downloadHandlers = ({ downloads, inspector, sources }: Services): DownloadHandlers => ({
  'downloads.list': downloads.list,
  'downloads.start': async ({ reference, variant, name }) => {
    const { repository, headers, variant: chosen } = await inspector.inspect(reference, variant);
    needSupported(chosen, repository.name);
    return downloads.start(repository, headers.files, name ?? nameOfRepository(repository.name));
  },
  'downloads.pause': ({ downloadId }) => downloads.pause(downloadId),
  'downloads.resume': ({ downloadId }) => downloads.resume(downloadId),
  'downloads.cancel': ({ downloadId }) => downloads.cancel(downloadId),
  'downloads.update': async ({ downloadId }) => {
    const row = downloads.row(downloadId);
    const from = sources.byId(row.source);
    if (!from)
      throw new LonghandError('not-found', `[downloads] the source ${row.source} is no longer set up`, {
        details: { reason: 'no-source' },
      });
    const { repository, headers, variant } = await inspector.inspectNewest(from, row.repository, ggufOf(row) ?? FOLDER);
    needSupported(variant, repository.name);
    await downloads.renew(downloadId, { commit: repository.commit, files: headers.files });
  },
  'downloads.move': ({ downloadId, place }) => downloads.move(downloadId, place),
});
