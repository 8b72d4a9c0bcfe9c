import {
  figureOf,
  type ModelId,
  type QualityResult,
  type QualityRun,
  type QualitySubject,
  shareOf,
} from '../../../app/protocol/index.ts';

//  Tests of two models as the page shows them.

const figure = (value: number, half: number) => figureOf({ value, low: value - half, high: value + half });
const blocks = (loss: number) => Array.from({ length: 40 }, (_, at) => loss + Math.sin(at * 7) / 3);

let count = 0;
const run = (modelId: string, subject: QualitySubject, state: QualityRun['state']): QualityRun => ({
  id: `${modelId}-${subject.kind}-${++count}`,
  modelId: modelId as ModelId,
  startedAt: Date.now(),
  subject,
  key: JSON.stringify(subject),
  state,
});
const done = (modelId: string, subject: QualitySubject, seconds: number, result: QualityResult) =>
  run(modelId, subject, { status: 'done', seconds, result });

const manual = { kind: 'perplexity', text: null, limit: null } as const;
const book = {
  kind: 'perplexity',
  text: 'Gesammelte Briefe an die Verwaltung der Donaudampfschifffahrtsgesellschaft.txt',
  limit: 8192,
} as const;
const needle = { kind: 'needle', lengths: [512, 1024, 2048], depths: [0, 25, 50, 75, 100], seed: 1 } as const;
const reasoning = { kind: 'reasoning', problems: 12, maxTokens: 1024, seed: 1 } as const;

const text = (modelId: string, subject: QualitySubject, loss: number) =>
  done(modelId, subject, 384, {
    kind: 'perplexity',
    perplexity: figure(Math.exp(loss), 1.4),
    bitsPerByte: figure(loss / 3.4, 0.03),
    tokens: 8191,
    blocks: blocks(loss),
    windows: 'manual',
  });

const found = (modelId: string, missed: number) => {
  const texts = needle.lengths.flatMap((length, row) =>
    needle.depths.map((depth, column) => ({ length, depth, found: row * 5 + column >= missed, said: '' })),
  );
  return done(modelId, { ...needle, lengths: [...needle.lengths], depths: [...needle.depths] }, 96, {
    kind: 'needle',
    found: figureOf(shareOf(15 - missed, 15)),
    texts,
  });
};

const answers = (modelId: string, right: number) => {
  const subject = { kind: 'reading', name: 'leases.jsonl', metric: 'f1', longest: 8192, maxTokens: 64 } as const;
  const scores = Array.from({ length: 40 }, (_, at) => (at % 5 < 3 ? right : right / 4));
  return done(modelId, subject, 512, {
    kind: 'reading',
    metric: 'f1',
    score: figure(right * 0.7, 0.08),
    questions: scores.length,
    shortened: 3,
    answers: scores.map((score) => ({ score, said: '' })),
  });
};

const problems = (modelId: string, right: number, looped: number) => {
  const share = (count: number) => figureOf(shareOf(count, 60));
  return done(modelId, reasoning, 2470, {
    kind: 'reasoning',
    right: share(right),
    answered: share(60 - looped),
    looped: share(looped),
    kinds: ['arithmetic', 'logic', 'several steps', 'code', 'constraints'].map((kind, at) => ({
      kind,
      problems: 12,
      right: Math.round(right / 5) - at,
      answered: 12 - at,
      looped: at,
    })),
    attempts: Array.from({ length: 60 }, (_, at) => ({
      kind: 'logic',
      question: '',
      answer: '',
      outcome: at < looped ? ('looped' as const) : at < looped + right ? ('right' as const) : ('wrong' as const),
      said: '',
    })),
  });
};

/** Of two models: the results of both for the same tests, and of the first a divergence from the second. */
export const results = (model: string, other: string): QualityRun[] => [
  text(model, manual, 2.31),
  text(model, book, 2.94),
  done(model, { kind: 'divergence', text: null, limit: null, reference: 'MiniCPM-SALA 9B' }, 601, {
    kind: 'divergence',
    kld: figure(0.0793, 0.006),
    kld99: 0.61,
    sameTop: figureOf(shareOf(7300, 8191)),
    perplexity: figure(10.1, 1.4),
    referencePerplexity: figure(9.7, 1.3),
    tokens: 8191,
    reference: 'MiniCPM-SALA 9B',
    blocks: blocks(0.08),
    windows: 'manual',
  }),
  answers(model, 0.71),
  found(model, 1),
  problems(model, 41, 9),
  text(other, manual, 2.28),
  answers(other, 0.74),
  found(other, 0),
  problems(other, 43, 1),
];

export const alike = (model: string, other: string): QualityRun[] => [
  text(model, manual, 2.31),
  text(other, manual, 2.31),
  found(model, 1),
  found(other, 2),
];

export const underWay = (model: string, waiting: boolean): QualityRun =>
  run(model, book, { status: 'running', phase: 'scoring', share: 0.42, secondsLeft: 260, waiting });

export const stopped = (model: string): QualityRun => run(model, reasoning, { status: 'stopped' });

export const failed = (model: string): QualityRun =>
  run(model, manual, {
    status: 'failed',
    failure: {
      code: 'engine-failed',
      message: '[quality] the process ended: signal SIGKILL',
      details: { reason: 'quality-lost' },
    },
  });
