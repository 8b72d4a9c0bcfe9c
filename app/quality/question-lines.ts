import { z } from 'zod';
import { LonghandError } from '../protocol/index.ts';

/** The lines of a JSONL file of questions; empty ones are skipped. `shape`: what a line looks like.
 *  @throws LonghandError `bad-request` naming the line */
export function questionsIn<Line extends z.ZodType>(text: string, line: Line, shape: string): z.infer<Line>[] {
  const questions = text.split('\n').flatMap((written, at) => {
    if (written.trim() === '') return [];
    try {
      return [line.parse(JSON.parse(written))];
    } catch (error) {
      const why =
        error instanceof z.ZodError
          ? error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join(', ')
          : 'not JSON';
      throw new LonghandError('bad-request', `[eval] line ${at + 1}: ${why}; a line is ${shape}`, {
        details: { reason: 'quality-questions', line: at + 1 },
      });
    }
  });
  if (questions.length === 0) {
    throw new LonghandError('bad-request', '[eval] the file contains no question', {
      details: { reason: 'quality-no-question' },
    });
  }
  return questions;
}
