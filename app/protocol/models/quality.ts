import { z } from 'zod';
import { Failure } from '../errors.ts';
import { ModelId, Time } from '../ids.ts';
import type { Estimate } from '../interval.ts';

//  Tests of what a model is worth, one at a time, and what they found.
//
//  start ──▶ running ──▶ done            remove: gone, from any of them
//             │  ▲  └──▶ failed
//        stop │  │ resume (also from failed; an app that was closed or killed leaves it stopped)
//             ▼  │
//            stopped

/** Characters of a text, and of a file of questions. */
export const MAX_QUALITY_TEXT = 4_000_000;

/** What is read: pages of the manual, or a file of the user's. */
export const QualityText = z.discriminatedUnion('source', [
  z.object({ source: z.literal('manual') }),
  z.object({ source: z.literal('file'), name: z.string().min(1).max(255), text: z.string().max(MAX_QUALITY_TEXT) }),
]);
export type QualityText = z.infer<typeof QualityText>;

/** How many tokens of a text are read; null: all of them. */
const limit = z.number().int().min(128).max(1_000_000).nullable().default(8192);

/** What a model is compared with: another one, or its predictions as `longhand eval --save-reference` wrote them. */
export const QualityReference = z.discriminatedUnion('from', [
  z.object({ from: z.literal('model'), modelId: ModelId }),
  z.object({ from: z.literal('file'), path: z.string().min(1).max(4096) }),
]);
export type QualityReference = z.infer<typeof QualityReference>;

const needle = z.object({
  kind: z.literal('needle'),
  /** In tokens. */
  lengths: z.array(z.number().int().min(64).max(262_144)).min(1).max(8),
  /** In percent of the text. */
  depths: z.array(z.number().int().min(0).max(100)).min(1).max(11),
  seed: z.number().int().min(1).max(1_000_000).default(1),
});
const reasoning = z.object({
  kind: z.literal('reasoning'),
  /** Of each kind. */
  problems: z.number().int().min(1).max(50),
  maxTokens: z.number().int().min(16).max(16_384).default(1024),
  seed: z.number().int().min(1).max(1_000_000).default(1),
});

/** How an answer is compared with the right one: F1 of the words, ROUGE-L, or the same words. */
export const READING_METRICS = ['f1', 'rouge-l', 'exact'] as const;
export type ReadingMetric = (typeof READING_METRICS)[number];
const reading = z.object({
  kind: z.literal('reading'),
  /** Of the file. */
  name: z.string().min(1).max(255),
  metric: z.enum(READING_METRICS).default('f1'),
  /** Tokens of a prompt: a longer text loses its middle. */
  longest: z.number().int().min(256).max(262_144).default(8192),
  maxTokens: z.number().int().min(8).max(4096).default(64),
});

export const QualityTest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('perplexity'), text: QualityText, limit }),
  z.object({ kind: z.literal('divergence'), text: QualityText, limit, reference: QualityReference }),
  z.object({
    kind: z.literal('choices'),
    name: z.string().min(1).max(255),
    /** One JSON object per line. */
    questions: z.string().max(MAX_QUALITY_TEXT),
  }),
  reading.extend({ questions: z.string().max(MAX_QUALITY_TEXT) }),
  needle,
  reasoning,
]);
export type QualityTest = z.infer<typeof QualityTest>;
export const QUALITY_KINDS = ['perplexity', 'divergence', 'choices', 'reading', 'needle', 'reasoning'] as const;
export type QualityKind = (typeof QUALITY_KINDS)[number];

/** A test as it is kept: without its texts. `text` null: the manual. */
export const QualitySubject = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('perplexity'), text: z.string().nullable(), limit }),
  z.object({ kind: z.literal('divergence'), text: z.string().nullable(), limit, reference: z.string() }),
  z.object({ kind: z.literal('choices'), name: z.string() }),
  reading,
  needle,
  reasoning,
]);
export type QualitySubject = z.infer<typeof QualitySubject>;

/** A figure with its 95 % interval; null where it is no number, or cannot be told. */
export const Figure = z.object({
  value: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
});
export type Figure = z.infer<typeof Figure>;

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
export const figureOf = ({ value, low, high }: Estimate): Figure => ({
  value: finite(value),
  low: finite(low),
  high: finite(high),
});

const count = z.number().int().nonnegative();
export const OUTCOMES = ['right', 'wrong', 'none', 'looped', 'too long'] as const;

export const QualityResult = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('perplexity'),
    perplexity: Figure,
    /** The same in bits for each byte of the text, which models of different tokenizers can be compared by. */
    bitsPerByte: Figure,
    tokens: count,
    /** Mean losses of the blocks of the text, in nats: two models are compared block by block. */
    blocks: z.array(z.number().nullable()),
    /** Hash of the windows: the same text cut into the same tokens. */
    windows: z.string(),
  }),
  z.object({
    kind: z.literal('divergence'),
    kld: Figure,
    kld99: z.number().nullable(),
    sameTop: Figure,
    perplexity: Figure,
    referencePerplexity: Figure,
    tokens: count,
    reference: z.string(),
    blocks: z.array(z.number().nullable()),
    windows: z.string(),
  }),
  z.object({
    kind: z.literal('choices'),
    accuracy: Figure,
    normalised: Figure,
    questions: count,
    answers: z.array(z.object({ right: z.boolean(), normalised: z.boolean() })),
  }),
  z.object({
    kind: z.literal('reading'),
    metric: z.enum(READING_METRICS),
    /** Mean over the questions of how much of a right answer was given. */
    score: Figure,
    questions: count,
    /** Texts that lost their middle. */
    shortened: count,
    answers: z.array(z.object({ score: z.number(), said: z.string() })),
  }),
  z.object({
    kind: z.literal('needle'),
    found: Figure,
    texts: z.array(z.object({ length: count, depth: z.number(), found: z.boolean(), said: z.string() })),
  }),
  z.object({
    kind: z.literal('reasoning'),
    right: Figure,
    answered: Figure,
    looped: Figure,
    kinds: z.array(z.object({ kind: z.string(), problems: count, right: count, answered: count, looped: count })),
    attempts: z.array(
      z.object({
        kind: z.string(),
        question: z.string(),
        answer: z.string(),
        outcome: z.enum(OUTCOMES),
        said: z.string(),
      }),
    ),
  }),
]);
export type QualityResult = z.infer<typeof QualityResult>;
export type ResultOf<Kind extends QualityKind> = Extract<QualityResult, { kind: Kind }>;

/** What a run does, in this order; `reference`: the other model reads the text. */
export const QUALITY_PHASES = ['loading', 'reference', 'scoring', 'comparing', 'asking'] as const;

export const QualityState = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('running'),
    phase: z.enum(QUALITY_PHASES),
    /** Of the phase, from 0 to 1. */
    share: z.number().min(0).max(1),
    /** Until the end of the phase; null until it can be told. */
    secondsLeft: z.number().nullable(),
    /** A chat or a program is being answered, which comes first. */
    waiting: z.boolean(),
  }),
  z.object({ status: z.literal('stopped') }),
  z.object({ status: z.literal('failed'), failure: Failure }),
  z.object({
    status: z.literal('done'),
    /** Of work, over all its parts. */
    seconds: z.number().nonnegative(),
    result: QualityResult,
  }),
]);
export type QualityState = z.infer<typeof QualityState>;

export const QualityRun = z.object({
  id: z.string(),
  modelId: ModelId,
  startedAt: Time,
  subject: QualitySubject,
  /** The same for two runs that asked for the same: their results can be compared. */
  key: z.string(),
  state: QualityState,
});
export type QualityRun = z.infer<typeof QualityRun>;

/** What a test will take, measured on a small part of it. Changes nothing. */
export const QualityPlan = z.object({
  /** Texts, windows or questions. */
  parts: count,
  /** Tokens to read, and at most to write. */
  reads: count,
  writes: count,
  seconds: z.number().nonnegative(),
  /** In memory, beside what is loaded. */
  memoryBytes: z.number().nonnegative(),
});
export type QualityPlan = z.infer<typeof QualityPlan>;

const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});

export const qualityCalls = {
  /** Everything that is known of a model, the newest first. */
  'quality.list': call(z.object({ modelId: ModelId }), z.array(QualityRun)),
  /** The run under way, of whichever model. */
  'quality.current': call(z.void(), QualityRun.nullable()),
  'quality.plan': call(z.object({ modelId: ModelId, test: QualityTest }), QualityPlan),
  /** Begins; the rest is told by `quality.changed`. */
  'quality.start': call(z.object({ modelId: ModelId, test: QualityTest }), QualityRun),
  /** Stops the run under way. What it has done is kept. */
  'quality.stop': call(z.void(), z.void()),
  'quality.resume': call(z.object({ id: z.string() }), QualityRun),
  'quality.remove': call(z.object({ id: z.string() }), z.void()),
  /** The results of a model as JSON, with the names of `longhand eval --json`. */
  'quality.export': call(z.object({ modelId: ModelId }), z.string()),
} as const;

export const qualityEvents = {
  'quality.changed': QualityRun,
  'quality.removed': z.object({ modelId: ModelId, id: z.string() }),
} as const;
