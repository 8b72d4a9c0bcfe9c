import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder, places, root } from '../../../support/core/core.ts';
import { pictureFiles } from '../../../support/models/seeing-model.ts';

//  A picture that a tool gave, and no room for its copy: what is told is the full disk, not a broken picture.

/** Keeps a picture in a process whose temporary folder is a disk of its own, and says what came of it. */
const keeping = `
import { readFileSync } from 'node:fs';
const [, modules, picture, folder, worker] = process.argv;
const { createPictureStore } = await import(modules + '/app/chat/pictures.ts');
const { failureOf } = await import(modules + '/app/protocol/index.ts');
const store = createPictureStore(null, { folder, worker });
const told = await store.keep(readFileSync(picture), 'chart.jpg').then(({ width }) => width, (error) => failureOf(error).code);
process.stdout.write(String(told));
await store.close();
`;

const alone = ['--user', '--map-root-user', '--mount'];
const mounts = process.platform === 'linux' && spawnSync('unshare', [...alone, 'true']).status === 0;

test('a temporary folder that is full is told as a full disk', { timeout: 60_000 }, (context) => {
  if (!mounts) context.skip('needs a mount of its own: unshare and mount are not permitted here');
  const picture = pictureFiles('huge.jpg');
  const size = readFileSync(picture).length;
  const run = (bytes: number) => {
    const disk = newFolder();
    const mounted = `mount -t tmpfs -o size=${bytes} tmpfs "$0" && exec "$@"`;
    const node = [process.execPath, '--input-type=module', '-e', keeping];
    return spawnSync(
      'unshare',
      [
        ...alone,
        'sh',
        '-c',
        mounted,
        disk,
        ...node,
        root,
        picture,
        join(newFolder(), 'pictures'),
        places.pictureWorker,
      ],
      { encoding: 'utf8', env: { ...process.env, TMPDIR: disk } },
    );
  };
  expect(Number(run(size + 65_536).stdout)).toBeGreaterThan(0);
  const { status, stdout } = run(Math.floor(size / 2));
  expect([status, stdout]).toEqual([0, 'disk-full']);
});
