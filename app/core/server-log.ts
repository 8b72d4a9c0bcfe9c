import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { failureOf, guarded, type Report, type ServerRequest, type ServerTexts } from '../protocol/index.ts';
import type { AnswerPart, AnswerRequest, Inference } from './inference.ts';
import { firstDifference } from './request-difference.ts';

//  Log of the requests of other programs: who, when and how much; no texts unless the inspector is on. In memory only.
//  Model calls are attributed to their request by its asynchronous context.

export type KnownKey = { id: string; name: string; digest: Uint8Array };

export const digestOf = (key: string): Uint8Array => createHash('sha256').update(key).digest();

/** Refused requests have their own list, so that repeated attempts do not push out the others. */
export const retention = {
  answered: 200,
  refused: 50,
  texts: 20,
  characters: 100_000,
} as const;
const tellMs = 250;

type Asked = { method: string; path: string; key: KnownKey | null };
type Refused = { status: number; reason: string; method: string; path: string };

type Entry = {
  row: ServerRequest;
  keyId: string | null;
  startedAt: number;
  /** Number of answers being written. */
  open: number;
  handled: boolean;
  stop: AbortController;
  texts: ServerTexts | null;
};

export type RequestLog = {
  /** The same inference, with every call recorded in its request. */
  inference: Inference;
  /** @param handle returns the status of the response */
  follow(asked: Asked, handle: () => Promise<number>): Promise<void>;
  refused(refused: Refused): void;
  list(): ServerRequest[];
  texts(id: string): ServerTexts | null;
  stop(id: string): void;
  stopKey(keyId: string): void;
  clear(): void;
  forgetTexts(): void;
  close(): void;
};

export type RequestLogOptions = {
  inference: Inference;
  inspecting: () => boolean;
  changed: (requests: ServerRequest[]) => void;
  now: () => number;
  report: Report;
};

export function createRequestLog({ inference, inspecting, changed, now, report }: RequestLogOptions): RequestLog {
  const current = new AsyncLocalStorage<Entry>();
  let entries: Entry[] = [];
  let count = 0;
  let telling: NodeJS.Timeout | null = null;
  let told = Number.NEGATIVE_INFINITY;

  const list = () => entries.map(({ row }) => row);

  /** Emits at once, then at most a few times a second. */
  function tell(): void {
    if (telling) return;
    const send = guarded(report, () => {
      telling = null;
      told = performance.now();
      changed(list());
    });
    const wait = told + tellMs - performance.now();
    if (wait <= 0) send();
    else telling = setTimeout(send, wait);
  }

  function add({ method, path, key }: Asked, known: Partial<ServerRequest> = {}): Entry {
    const row: ServerRequest = {
      id: String(++count),
      at: now(),
      method,
      path,
      client: key?.name ?? null,
      model: null,
      state: 'running',
      status: null,
      reason: null,
      promptTokens: null,
      cachedTokens: null,
      differsAt: null,
      miss: null,
      writtenTokens: null,
      firstMs: null,
      totalMs: null,
      inspected: false,
      ...known,
    };
    const entry: Entry = {
      row,
      keyId: key?.id ?? null,
      startedAt: performance.now(),
      open: 0,
      handled: false,
      stop: new AbortController(),
      texts: null,
    };
    entries = trimmed([entry, ...entries]);
    tell();
    return entry;
  }

  const change = (entry: Entry, patch: Partial<ServerRequest>) => {
    entry.row = { ...entry.row, ...patch };
    tell();
  };

  /** A response may still be in flight after its handler is done, and an answer ends before its handler does. */
  function settle(entry: Entry): void {
    if (!entry.handled || entry.open > 0 || entry.row.totalMs !== null) return;
    const failed = (entry.row.status ?? 500) >= 400;
    const state = entry.row.state !== 'running' ? entry.row.state : failed ? 'failed' : 'done';
    change(entry, { state, totalMs: performance.now() - entry.startedAt });
  }

  async function* noted(entry: Entry, parts: AsyncGenerator<AnswerPart, void>): AsyncGenerator<AnswerPart, void> {
    let whole = false;
    try {
      for await (const part of parts) {
        note(entry, part);
        if (part.type === 'end') whole = part.reason !== 'cancelled';
        yield part;
      }
    } catch (error) {
      change(entry, {
        state: entry.row.state === 'stopped' ? 'stopped' : 'failed',
        reason: failureOf(error).message,
      });
      whole = true;
      throw error;
    } finally {
      if (!whole) change(entry, { state: 'stopped' });
      entry.open--;
      settle(entry);
    }
  }

  function note(entry: Entry, part: AnswerPart): void {
    if (part.type === 'prompt') {
      change(entry, { promptTokens: part.tokens, cachedTokens: part.cached });
    } else if (part.type === 'end') {
      const { promptTokens, cachedTokens, thinkingTokens, answerTokens, differs, miss } = part.usage;
      change(entry, {
        promptTokens,
        cachedTokens,
        // Its text is part of what was asked: only the inspector has that.
        differsAt: differs?.token ?? null,
        miss: miss ?? null,
        writtenTokens: thinkingTokens + answerTokens,
      });
    } else {
      const firstMs = entry.row.firstMs ?? performance.now() - entry.startedAt;
      // A chunk is roughly a token; the final event has the exact number.
      change(entry, {
        firstMs,
        writtenTokens: (entry.row.writtenTokens ?? 0) + 1,
      });
      if (entry.texts) addTo(entry.texts, part);
    }
  }

  /** A request that writes no answer; cancelled with its client or from the page. */
  async function read<Result extends { tokens: number }>(
    model: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const entry = current.getStore();
    if (!entry) return work(signal);
    change(entry, { model });
    const result = await work(AbortSignal.any([signal, entry.stop.signal]));
    change(entry, { promptTokens: result.tokens });
    return result;
  }

  function inspect(entry: Entry, request: AnswerRequest): void {
    if (!inspecting()) return;
    let room: number = retention.characters;
    const asked = textsOf(request).map(({ role, text }) => {
      const shown = text.slice(0, room);
      room -= shown.length;
      return { role, text: shown };
    });
    const others = entries.filter((other) => other !== entry && other.row.model === request.model);
    const earlier = others.flatMap(({ texts }) => (texts ? [texts.asked] : []));
    entry.texts = { asked, difference: firstDifference(asked, earlier), thinking: '', answer: '', calls: '' };
    change(entry, { inspected: true });
    for (const old of entries.filter(({ texts }) => texts).slice(retention.texts)) forget(old);
  }

  function forget(entry: Entry): void {
    entry.texts = null;
    change(entry, { inspected: false });
  }

  function stopAll(which: (entry: Entry) => boolean): void {
    for (const entry of entries) {
      if (entry.row.state !== 'running' || !which(entry)) continue;
      change(entry, { state: 'stopped' });
      entry.stop.abort();
    }
  }

  return {
    inference: {
      ...inference,
      answer(request, signal) {
        const entry = current.getStore();
        if (!entry) return inference.answer(request, signal);
        entry.open++;
        change(entry, { model: request.model });
        inspect(entry, request);
        return noted(entry, inference.answer(request, AbortSignal.any([signal, entry.stop.signal])));
      },
      embed: (model, texts, kind, signal) => read(model, signal, (until) => inference.embed(model, texts, kind, until)),
      rank: (model, query, texts, signal) => read(model, signal, (until) => inference.rank(model, query, texts, until)),
    },
    async follow(asked, handle) {
      const entry = add(asked);
      try {
        change(entry, { status: await current.run(entry, handle) });
      } finally {
        entry.handled = true;
        settle(entry);
      }
    },
    refused({ status, reason, method, path }) {
      add({ method, path, key: null }, { state: 'refused', status, reason, totalMs: 0 });
    },
    list,
    texts: (id) => entries.find(({ row }) => row.id === id)?.texts ?? null,
    stop: (id) => stopAll(({ row }) => row.id === id),
    stopKey: (id) => stopAll(({ keyId }) => keyId === id),
    clear() {
      entries = entries.filter(({ row }) => row.totalMs === null);
      tell();
    },
    forgetTexts() {
      for (const entry of entries) if (entry.texts) forget(entry);
    },
    close() {
      if (telling) clearTimeout(telling);
      telling = null;
    },
  };
}

/** What the prompt is made of, in the order in which most templates say it. */
function textsOf({ messages, raw, tools }: AnswerRequest): ServerTexts['asked'] {
  const offered = tools.map((tool) => JSON.stringify(tool.function)).join('\n');
  return [
    ...(offered === '' ? [] : [{ role: 'tools', text: offered }]),
    ...(raw ? [{ role: 'prompt', text: raw.text }] : []),
    ...messages.map(({ role, text }) => ({ role, text })),
  ];
}

function addTo(texts: ServerTexts, part: AnswerPart): void {
  const [kind, text] = pieceOf(part);
  texts[kind] = (texts[kind] + text).slice(0, retention.characters);
}

function pieceOf(part: AnswerPart): ['thinking' | 'answer' | 'calls', string] {
  if (part.type === 'text') return [part.kind, part.text];
  if (part.type === 'call') return ['calls', `${part.name} ${part.arguments}\n`];
  if (part.type === 'call-begin') return ['calls', `${part.name} `];
  if (part.type === 'call-arguments') return ['calls', part.text];
  return ['calls', part.type === 'call-end' ? '\n' : ''];
}

/** Drops the oldest entries; running ones stay. */
function trimmed(entries: Entry[]): Entry[] {
  const left = {
    answered: retention.answered as number,
    refused: retention.refused as number,
  };
  return entries.filter(({ row }) => {
    if (row.totalMs === null) return true;
    return left[row.state === 'refused' ? 'refused' : 'answered']-- > 0;
  });
}
