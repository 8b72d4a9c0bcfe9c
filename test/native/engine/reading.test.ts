// The CPU reads prompts of more than sixteen tokens in faster arithmetic than it writes answers in, if weights are packed: several
// answers at once are still those alone, and a prompt that is read in parts is the whole one. On every processor also for the model
// of what tiles do.
import { join } from 'node:path';
import { afterEach, describe } from 'vitest';
import { addon, golden } from '../../support/addon.ts';
import { severalAnswers } from '../../support/several-answers.ts';

const usual = join(golden, 'mlx_models/qwen3_5_4bit');

describe.each(['', 'scalar-tiles'])('instruction set "%s"', (set) => {
  const before = process.env.LONGHAND_CPU_ISA;
  afterEach(() => restore(before));
  const load = (folder: string) => {
    if (set) process.env.LONGHAND_CPU_ISA = set;
    return addon.load(folder, { device: 'cpu', threads: 2 });
  };
  severalAnswers(addon, load, { usual, paths: ['fast'], many: [18, 64], long: 300, outlasting: 1000 });
});

function restore(before: string | undefined): void {
  if (before === undefined) delete process.env.LONGHAND_CPU_ISA;
  else process.env.LONGHAND_CPU_ISA = before;
}
