import { cpus } from 'node:os';
import type { Engine } from '../../engine/client/engine-client.ts';
import { guarded, type Report } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { keepMeasurement, readMeasurement } from '../../store/measurements.ts';

/** How fast this machine reads memory, in bytes a second. */
export type Bandwidth = {
  known(): number | null;
  /** Measured once by the engine process, then remembered; a data folder that moves to another machine is measured again.
   *  `measured` hears of it. */
  want(): void;
};

export type BandwidthOptions = {
  db: Database;
  engine: Engine;
  now: () => number;
  measured: () => void;
  report: Report;
  machine?: string;
};

export function createBandwidth({
  db,
  engine,
  now,
  measured,
  report,
  machine = thisMachine(),
}: BandwidthOptions): Bandwidth {
  const name = `bandwidth of ${machine}`;
  let measuring = false;
  const known = () => readMeasurement(db, name);

  async function measure(): Promise<void> {
    measuring = true;
    const found = await engine.ask('bandwidth', null).catch(() => 0); // asked again the next time somebody looks
    measuring = false;
    if (found <= 0) return;
    keepMeasurement(db, name, found, now());
    measured();
  }

  return {
    known,
    want() {
      if (!measuring && known() === null) guarded(report, measure)();
    },
  };
}

const thisMachine = () => `${cpus().length} x ${cpus()[0]?.model ?? ''}`;
