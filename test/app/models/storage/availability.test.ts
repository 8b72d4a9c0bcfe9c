import { expect, onTestFinished, test } from 'vitest';
import { createAvailability, watchDrives } from '../../../../app/models/storage/availability.ts';
import { disk } from '../../../../app/models/storage/fs-probe.ts';
import { until } from '../../../support/until.ts';

test('a drive that somebody else found gone is told of when it is back, though no look of our own has missed it', async () => {
  let plugged = true;
  let looks = 0;
  const names = async () => {
    looks++;
    return plugged ? new Map([['mine', null]]) : null;
  };
  const location = { owns: () => false, there: () => true, look: async () => true };
  const availability = createAvailability(location, { ...disk, names });
  const paths = ['/drive/mine'];
  let told = 0;
  const list = async () => {
    plugged = false;
    await availability.look(paths);
    expect(availability.of('/drive/mine')).toBe('unmounted');
    plugged = true;
  };
  const drives = watchDrives({
    paths: () => paths,
    availability,
    there: () => true,
    // Between two looks of the watch: the drive goes, the list is asked for and says so, the drive comes back.
    overlooked: async () => {
      if (looks === 1) setTimeout(list, 5);
      return false;
    },
    changed: () => told++,
    everyMs: 50,
  });
  onTestFinished(() => drives.close());
  await until(
    async () => told,
    (times) => times > 0,
  );
  expect(availability.of('/drive/mine')).toBe('here');
});
