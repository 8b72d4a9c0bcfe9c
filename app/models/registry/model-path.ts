import { isAbsolute, join, resolve } from 'node:path';
import { LonghandError } from '../../protocol/index.ts';
import type { Disk, Kind, ProbeWithTimeout } from '../storage/fs-probe.ts';
import type { LibraryLocation } from '../storage/library-location.ts';
import { openedByFile, openedByFolder } from '../storage/model-file.ts';
import { silentDisk } from './model-errors.ts';

type Looking = { probe: ProbeWithTimeout; disk: Disk; location: Pick<LibraryLocation, 'links'> };

/** The file of a vision tower that the user chose.
 *  @throws LonghandError `bad-request`, `not-found`, `unreadable` */
export async function visionPathOf(given: string, looking: Pick<Looking, 'probe' | 'disk'>): Promise<string> {
  const { whole, kind } = await found(given, looking);
  if (kind === 'file') return whole;
  throw new LonghandError('unreadable', `[models] ${whole} is a folder; the .gguf file of a vision tower is allowed`, {
    details: { reason: 'other-vision' },
  });
}

/** A GGUF file, or the folder of a safetensors or MLX model; a path of one of its files stands for the folder.
 *  @throws LonghandError `bad-request`, `not-found`, `unreadable`, `permission` */
export async function modelPathOf(given: string, { probe, disk, location }: Looking): Promise<string> {
  const { whole, kind } = await found(given, { probe, disk });
  const opened = () => (kind === 'file' ? openedByFile(whole, location.links()) : openedByFolder(whole));
  const path = await probe<string | null>(whole, opened, { slow: null, busy: () => null });
  if (path === null) throw silentDisk(whole);
  return path;
}

async function found(given: string, { probe, disk }: Pick<Looking, 'probe' | 'disk'>) {
  const expanded = given.startsWith('~/') ? join(process.env.HOME ?? '', given.slice(2)) : given;
  if (!isAbsolute(expanded)) {
    throw new LonghandError('bad-request', `[models] "${given}" is not a full path such as /home/me/model.gguf`, {
      details: { reason: 'no-path' },
    });
  }
  const whole = resolve(expanded);
  const silent = { slow: 'silent', busy: () => 'silent' as const } as const;
  const kind = await probe<Kind | 'silent'>(whole, () => disk.kind(whole), silent);
  if (kind === 'silent') throw silentDisk(whole);
  if (kind === null) {
    throw new LonghandError('not-found', `[models] nothing is at ${whole}`, { details: { reason: 'no-file' } });
  }
  return { whole, kind };
}
