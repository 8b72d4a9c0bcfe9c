import type { KeptItem } from './response-items.ts';

//  Responses that a later request may go on from, if it comes with the same key: for any other they are not there. In memory alone;
//  the oldest go when there are too many.

export const maxResponses = 1000;
/** Of all that is said in them, each counted with what stands before it. */
export const maxResponseBytes = 64 * 1024 * 1024;

export type Stored = {
  /** Whose key it was asked for with. */
  caller: string;
  response: { id: string };
  /** All that was said, the answer included. */
  items: readonly KeptItem[];
  /** How many of them stood before the answer. */
  asked: number;
};

export type ResponseStore = {
  get(id: string, caller: string): Stored | null;
  /** All that was said with this key and is kept, by its name. */
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
