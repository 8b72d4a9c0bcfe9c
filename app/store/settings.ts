import { Settings, type SettingsPatch } from '../protocol/index.ts';
import type { Database } from './database/database.ts';

/** All settings. An invalid row (edited by hand, or of another version) counts as unset and is kept. */
export function readSettings(db: Database): Settings {
  const known: Record<string, unknown> = {};
  for (const { key, value } of db.all<{ key: string; value: string }>('SELECT key, value FROM settings')) {
    const shape = Settings.shape[key as keyof Settings];
    const parsed = shape?.safeParse(readJson(value));
    if (parsed?.success) known[key] = parsed.data;
  }
  return Settings.parse(known);
}

export function writeSettings(db: Database, patch: SettingsPatch): Settings {
  db.transaction(() => {
    for (const [key, value] of Object.entries(patch)) {
      if (value === undefined) continue;
      db.run(
        'INSERT INTO settings VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
        key,
        JSON.stringify(value),
      );
    }
  });
  return readSettings(db);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
