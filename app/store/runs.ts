import { type ChatId, type MessageId, Run, type Timings, type Usage } from '../protocol/index.ts';
import type { Database } from './database/database.ts';
import { storedId, storedInteger, storedJson } from './database/stored.ts';

export type Measured = {
  batch: string | null;
  messageId: MessageId | null;
  chatId: ChatId | null;
  at: number;
  model: string;
  backEnd: string;
  engine: string;
  usage: Usage;
  timings: Timings;
  memoryBytes: number | null;
  disturbed: boolean;
  curve: Run['curve'];
};

type Row = {
  id: number;
  batch: string | null;
  message_id: MessageId | null;
  chat_id: ChatId | null;
  at: number;
  model: string;
  back_end: string;
  engine: string;
  prompt_tokens: number;
  cached_tokens: number;
  tokens: number;
  prefill: number | null;
  decode: number | null;
  first_token_ms: number;
  memory_bytes: number | null;
  disturbed: number;
  curve: string;
};

/** With fewer new tokens, prefill speed is dominated by overhead. */
const FEWEST_READ = 16;
const KEPT = 20_000;

/** Stores a run; drops the oldest beyond a limit. */
export function addRun(db: Database, measured: Measured): Run {
  const { usage, timings } = measured;
  const fresh = usage.promptTokens - usage.cachedTokens;
  const prefill = fresh >= FEWEST_READ && timings.prefillMs > 0 ? (fresh * 1000) / timings.prefillMs : null;
  return db.transaction(() => {
    db.run(
      `INSERT INTO runs (batch, message_id, chat_id, at, model, back_end, engine, prompt_tokens, cached_tokens, tokens,
        prefill, decode, first_token_ms, memory_bytes, disturbed, curve) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      measured.batch,
      measured.messageId,
      measured.chatId,
      measured.at,
      measured.model,
      measured.backEnd,
      measured.engine,
      usage.promptTokens,
      usage.cachedTokens,
      usage.thinkingTokens + usage.answerTokens,
      finite(prefill),
      finite(timings.tokensPerSecond),
      finite(timings.firstTokenMs) ?? 0,
      finite(measured.memoryBytes),
      Number(measured.disturbed),
      JSON.stringify(measured.curve),
    );
    db.run('DELETE FROM runs WHERE id <= (SELECT max(id) FROM runs) - ?', KEPT);
    return runOf(db.get<Row>('SELECT * FROM runs ORDER BY id DESC LIMIT 1') as Row);
  });
}

/** Share of cached tokens in chat prompts since `since`; null if there were none. */
export function cacheHitShare(db: Database, since: number): number | null {
  const sums = db.get<{ known: number | null; all: number | null }>(
    'SELECT sum(cached_tokens) AS known, sum(prompt_tokens) AS "all" FROM runs WHERE batch IS NULL AND at >= ?',
    since,
  );
  return sums?.all ? (sums.known ?? 0) / sums.all : null;
}

const finite = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

/** Newest first. Runs of deleted chats stay, without a link to the chat. */
export const listRuns = (db: Database, limit: number): Run[] =>
  db
    .all<Row & { there: number }>(
      `SELECT runs.*, chats.id IS NOT NULL AS there FROM runs LEFT JOIN chats ON chats.id = runs.chat_id AND
        chats.deleted_at IS NULL ORDER BY runs.id DESC LIMIT ?`,
      limit,
    )
    .map((row) => ({ ...runOf(row), ...(row.there === 0 && { chatId: null, messageId: null }) }));

const runOf = (row: Row): Run => ({
  id: row.id,
  batch: row.batch,
  messageId: storedId(row.message_id),
  chatId: storedId(row.chat_id),
  at: storedInteger(row.at),
  model: row.model,
  backEnd: row.back_end,
  engine: row.engine,
  promptTokens: storedInteger(row.prompt_tokens),
  cachedTokens: storedInteger(row.cached_tokens),
  tokens: storedInteger(row.tokens),
  prefill: finite(row.prefill),
  decode: finite(row.decode),
  firstTokenMs: finite(row.first_token_ms) ?? 0,
  memoryBytes: finite(row.memory_bytes),
  disturbed: row.disturbed === 1,
  curve: storedJson(Run.shape.curve, row.curve, []),
});
