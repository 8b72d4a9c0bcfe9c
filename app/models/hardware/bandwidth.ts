import { cpus } from 'node:os';
import type { Engine } from '../../engine/client/engine-client.ts';
import { guarded, type Report } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { keepMeasurement, readMeasurement } from '../../store/measurements.ts';

/** Memory read bandwidth of this machine in bytes per second. */
export type Bandwidth = {
  known(): number | null;
  /** Measured once by the engine process, then stored; measured again if the data folder moves to another machine.
   *  `measured` is called with the result. */
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
    const found = await engine.ask('bandwidth', null).catch(() => 0); // retried on the next request
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
