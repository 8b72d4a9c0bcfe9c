import type { LoopEvidence, Message, MessageId, StatsSample } from '../../protocol/index.ts';
import { guarded, LonghandError } from '../../protocol/index.ts';
import { addChunk, cutBack, joinChunks } from '../../store/chats/message-chunks.ts';
import { addLoop, type MessagePatch, updateMessage } from '../../store/chats/messages.ts';
import type { Database } from '../../store/database/database.ts';

/** Writes one answer to disk while it grows: new text is on disk within 250 ms, and nothing is shown while older text
 *  has waited longer than `flushMs`, however late a timer fires on a busy machine. If the disk is full, the
 *  text stays in memory and writing is retried every second; `overlay` still shows all of it. */
export type MessageWriter = {
  text(kind: 'answer' | 'thinking', text: string, ids: readonly number[]): void;
  ids(ids: readonly number[]): void;
  sample(sample: StatsSample): void;
  loop(evidence: LoopEvidence): void;
  cut(kind: 'answer' | 'thinking', length: number, tokens: number): void;
  /** The message including text that is not on disk yet. */
  overlay(message: Message): Message;
  /** Sets fields; with `end` the answer is complete and the writer is done once all of it is on disk. */
  set(patch: MessagePatch, end?: 'end'): void;
  /** Writes everything now. Returns whether it is on disk. */
  flush(): boolean;
  /** Writes everything now and nothing afterwards: the database is about to be closed. */
  close(): void;
};

export type WriterOptions = {
  db: Database;
  messageId: MessageId;
  flushMs?: number;
  retryMs?: number;
  /** Called when writing begins to fail, and with null when it works again. */
  onTrouble: (trouble: LonghandError | null) => void;
  /** Called when a finished answer is entirely on disk. */
  onDone: () => void;
};

type Cut = { kind: 'answer' | 'thinking'; length: number; tokens: number };
/** Changes since the last write. A cut begins a new step, so that order is preserved even while the disk is full. */
type Step = {
  cut: Cut | null;
  text: string;
  thinking: string;
  ids: number[];
  samples: StatsSample[];
  loops: LoopEvidence[];
};
const newStep = (cut: Cut | null = null): Step => ({ cut, text: '', thinking: '', ids: [], samples: [], loops: [] });

export function createMessageWriter({
  db,
  messageId,
  flushMs = 100,
  retryMs = 1000,
  onTrouble,
  onDone,
}: WriterOptions): MessageWriter {
  let steps = [newStep()];
  let patch: MessagePatch = {};
  let ended = false;
  let failing = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  /** Arrival time of the oldest unwritten text. */
  let waitsSince: number | null = null;

  const last = () => steps.at(-1) as Step;

  function schedule() {
    if (closed) return;
    const now = performance.now();
    waitsSince ??= now;
    if (!failing && now - waitsSince >= flushMs) flush();
    else timer ??= setTimeout(guarded(console.error, flush), failing ? retryMs : flushMs);
  }

  function flush(): boolean {
    clearTimeout(timer);
    timer = undefined;
    waitsSince = null;
    try {
      db.transaction(write);
    } catch (error) {
      if (!failing) onTrouble(error instanceof LonghandError ? error : new LonghandError('internal', String(error)));
      failing = true;
      schedule();
      return false;
    }
    steps = [newStep()];
    patch = {};
    if (failing) onTrouble(null);
    failing = false;
    if (ended) onDone();
    return true;
  }

  function write() {
    for (const step of steps) {
      if (step.cut) cutBack(db, messageId, step.cut);
      addChunk(db, messageId, step);
      for (const evidence of step.loops) addLoop(db, messageId, evidence);
    }
    if (ended) joinChunks(db, messageId);
    if (Object.keys(patch).length > 0) updateMessage(db, messageId, patch);
  }

  return {
    text(kind, text, ids) {
      last()[kind === 'answer' ? 'text' : 'thinking'] += text;
      last().ids.push(...ids);
      schedule();
    },
    ids(ids) {
      last().ids.push(...ids);
      schedule();
    },
    sample(sample) {
      last().samples.push(sample);
      schedule();
    },
    loop(evidence) {
      last().loops.push(evidence);
      schedule();
    },
    cut(kind, length, tokens) {
      steps.push(newStep({ kind, length, tokens }));
      flush();
    },
    overlay: (message) => ({ ...steps.reduce(applied, message), ...(patch as Partial<Message>) }),
    set(fields, end) {
      patch = { ...patch, ...fields };
      ended ||= end === 'end';
      flush();
    },
    flush,
    close() {
      closed = true;
      flush();
    },
  };
}

function applied(message: Message, step: Step): Message {
  const uncut = (kind: Cut['kind'], text: string) => (step.cut?.kind === kind ? text.slice(0, step.cut.length) : text);
  return {
    ...message,
    text: uncut('answer', message.text) + step.text,
    thinking: uncut('thinking', message.thinking) + step.thinking,
    loops: [...message.loops, ...step.loops],
  };
}
