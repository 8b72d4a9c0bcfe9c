export type Mark = 'keyword' | 'string' | 'number' | 'name' | 'comment';
/** A stretch of one colour. */
export type Run = readonly [text: string, mark: Mark | null];
export type HighlightRequest = { id: number; text: string; language: string };
export type HighlightAnswer = { id: number; lines: Run[][] | null };

/** A worker that highlights code. */
export type Highlighter = { send(request: HighlightRequest): void; end(): void };
export type StartHighlighter = (tell: { answer(answer: HighlightAnswer): void; broke(): void }) => Highlighter;

export type HighlightQueue = (text: string, language: string) => Promise<Run[][] | null>;

type Job = { text: string; language: string; resolve: (lines: Run[][] | null) => void };

//  idle ──▶ running ──▶ answered ──▶ next            over the limit, or the worker broke ──▶ null, a new worker for the next

/** Highlights one block after the other. A grammar's regular expressions can take years on hostile text, and only ending the
 *  worker stops them: that block stays plain, and the others are highlighted. */
export function createHighlightQueue(start: StartHighlighter, limitMs: number): HighlightQueue {
  const waiting: Job[] = [];
  let worker: Highlighter | null = null;
  let running: { id: number; job: Job; timer: ReturnType<typeof setTimeout> } | null = null;
  let lastId = 0;

  function next() {
    const job = waiting.shift();
    if (running || !job) return;
    const id = ++lastId;
    worker ??= start({ answer, broke: giveUp });
    running = { id, job, timer: setTimeout(giveUp, limitMs) };
    worker.send({ id, text: job.text, language: job.language });
  }

  function answer({ id, lines }: HighlightAnswer) {
    if (id === running?.id) end(lines);
  }

  function giveUp() {
    worker?.end();
    worker = null;
    end(null);
  }

  function end(lines: Run[][] | null) {
    if (!running) return;
    const { job, timer } = running;
    clearTimeout(timer);
    running = null;
    job.resolve(lines);
    next();
  }

  return (text, language) =>
    new Promise((resolve) => {
      waiting.push({ text, language, resolve });
      if (!running) next();
    });
}
