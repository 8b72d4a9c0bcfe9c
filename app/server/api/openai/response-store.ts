import type { KeptItem } from './response-items.ts';
import type { OutputItem } from './response-writer.ts';

//  Stored responses that a later request with the same key can continue; other keys cannot see them. In memory only;
//  the oldest are dropped when there are too many.

export const maxResponses = 1000;
/** Limit on the total size, each response counted with its history. */
export const maxResponseBytes = 64 * 1024 * 1024;

export type Stored = {
  /** The owner of the key. */
  caller: string;
  response: { id: string; status: string; output: readonly OutputItem[] };
  /** The whole conversation including the answer. */
  items: readonly KeptItem[];
  /** Number of items before the answer. */
  asked: number;
};

export type ResponseStore = {
  get(id: string, caller: string): Stored | null;
  /** All stored items of this key by id. */
  itemsOf(caller: string): Map<string, KeptItem>;
  keep(stored: Stored): void;
  forget(id: string): boolean;
};

export function createResponseStore(): ResponseStore {
  const responses = new Map<string, { stored: Stored; bytes: number }>();
  let total = 0;

  function forget(id: string): boolean {
    total -= responses.get(id)?.bytes ?? 0;
    return responses.delete(id);
  }

  return {
    get(id, caller) {
      const stored = responses.get(id)?.stored;
      return stored?.caller === caller ? stored : null;
    },
    itemsOf(caller) {
      const own = [...responses.values()].filter(({ stored }) => stored.caller === caller);
      return new Map(own.flatMap(({ stored }) => stored.items.map((item) => [item.id, item])));
    },
    keep(stored) {
      const bytes = stored.items.reduce((sum, item) => sum + bytesOf(item), JSON.stringify(stored.response).length);
      responses.set(stored.response.id, { stored, bytes });
      total += bytes;
      for (const id of responses.keys()) {
        if (responses.size <= maxResponses && total <= maxResponseBytes) break;
        forget(id);
      }
    },
    forget,
  };
}

const bytesOf = (item: KeptItem): number => {
  const pictures = item.type === 'message' ? item.content.pictures : [];
  return pictures.reduce((sum, { byteLength }) => sum + byteLength, JSON.stringify(item, withoutPictures).length);
};

const withoutPictures = (key: string, value: unknown) => (key === 'pictures' ? undefined : value);
