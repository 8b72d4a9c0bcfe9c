import type * as Addon from '../../../../native/addon/index.d.ts';

/** The sessions of a model: one for each answer being written. */
export type SessionPool = {
  /** The owner's last session if it is free, else another free one, else a new one. It is exclusive
   *  until it is returned. @throws the addon's error if there is no memory for one */
  take(owner: string): Addon.Session;
  giveBack(session: Addon.Session): void;
  /** Clears all sessions; those in use once they are returned. */
  forget(): void;
  bytes(): number;
  close(): void;
};

type Entry = { session: Addon.Session; owner: string; used: boolean; forgotten: boolean };

/** `spare`: how many idle sessions stay. Their contents live on in the model's prompt cache. */
export function createSessionPool(create: () => Addon.Session, spare: number): SessionPool {
  /** Used longest ago first. */
  let entries: Entry[] = [];

  function closeSpare() {
    const free = entries.filter(({ used, forgotten }) => !used && !forgotten);
    const surplus = new Set(free.slice(0, Math.max(0, free.length - spare)));
    for (const entry of entries) if (entry.forgotten && !entry.used) surplus.add(entry);
    for (const { session } of surplus) session.close();
    entries = entries.filter((entry) => !surplus.has(entry));
  }

  return {
    take(owner) {
      const free = entries.filter(({ used }) => !used);
      const found = free.findLast((entry) => entry.owner === owner) ?? free[0];
      const entry = found ?? { session: create(), owner, used: true, forgotten: false };
      if (!found) entries.push(entry);
      Object.assign(entry, { owner, used: true });
      return entry.session;
    },
    giveBack(session) {
      const entry = entries.find((one) => one.session === session);
      if (!entry) return;
      entry.used = false;
      entries = [...entries.filter((one) => one !== entry), entry];
      closeSpare();
    },
    forget() {
      for (const entry of entries) entry.forgotten = true;
      closeSpare();
    },
    bytes: () => entries.reduce((sum, { session }) => sum + session.memoryBytes, 0),
    close() {
      for (const { session } of entries) session.close();
      entries = [];
    },
  };
}
