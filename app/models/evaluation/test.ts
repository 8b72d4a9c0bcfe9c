import { createHash } from 'node:crypto';
import {
  LonghandError,
  type ModelDescription,
  type QualityReference,
  type QualitySubject,
  type QualityTest,
} from '../../protocol/index.ts';

/** A test taken apart: what is kept of it, and its text or questions. */
export type TakenApart = {
  subject: QualitySubject;
  reference: QualityReference | null;
  material: string | null;
  key: string;
};

/** `nameOf`: of what it is compared with. */
export function takeApart(test: QualityTest, nameOf: (reference: QualityReference) => string): TakenApart {
  const { subject, reference, material } = parted(test, nameOf);
  // Names of files say nothing about what is in them.
  const {
    text: _text,
    name: _name,
    reference: _reference,
    ...rest
  } = { text: '', name: '', reference: '', ...subject };
  const key = createHash('sha256')
    .update(JSON.stringify([rest, reference, material]))
    .digest('hex');
  return { subject, reference, material, key };
}

function parted(test: QualityTest, nameOf: (reference: QualityReference) => string): Omit<TakenApart, 'key'> {
  if (test.kind === 'choices') {
    const { kind, name, questions } = test;
    return { subject: { kind, name }, reference: null, material: questions };
  }
  if (test.kind === 'reading') {
    const { questions, ...subject } = test;
    return { subject, reference: null, material: questions };
  }
  if (test.kind === 'needle' || test.kind === 'reasoning') return { subject: test, reference: null, material: null };
  const { text, limit } = test;
  const name = text.source === 'file' ? text.name : null;
  const material = text.source === 'file' ? text.text : null;
  if (test.kind === 'perplexity') return { subject: { kind: test.kind, text: name, limit }, reference: null, material };
  const { kind, reference } = test;
  return { subject: { kind, text: name, limit, reference: nameOf(reference) }, reference, material };
}

/** A twentieth of a text of other bytes becomes replacement characters, of which a real text has none. */
const MAX_REPLACED = 0.01;

/** @throws LonghandError for a text that is none, and texts that are longer than the model can read */
export function needTest({ subject, material }: TakenApart, description: ModelDescription | null): void {
  if (material !== null) {
    if (material.trim() === '') throw refused('the text is empty', 'quality-short-text');
    const replaced = material.split('\ufffd').length - 1;
    if (material.includes('\0') || replaced > MAX_REPLACED * material.length)
      throw refused('the file is not plain text', 'quality-not-text');
  }
  const longest = subject.kind === 'needle' ? Math.max(...subject.lengths) : 0;
  const context = description?.contextLength ?? Number.POSITIVE_INFINITY;
  if (longest > context) {
    throw refused(`a text of ${longest} tokens, the model reads up to ${context}`, 'quality-too-long');
  }
}

const refused = (message: string, reason: string) =>
  new LonghandError('bad-request', `[quality] ${message}`, { details: { reason } });
