// Mistakes that were made on purpose. `from` stands once in `file`; `user`: what somebody would get; `tests`: the test file
// that notices, and `named` the test in it. Where nothing notices it yet, `lives` says what is missing.
import { bordersAndShell } from './mutants/borders.mjs';
import { losingOrLeaking } from './mutants/data.mjs';
import { chatAndDocuments } from './mutants/documents.mjs';
import { engineAndText } from './mutants/engine.mjs';
import { gpu } from './mutants/gpu.mjs';
import { engineAndKernels } from './mutants/native.mjs';

export const MUTANTS = [
  ...losingOrLeaking,
  ...chatAndDocuments,
  ...engineAndText,
  ...bordersAndShell,
  ...engineAndKernels,
  ...gpu,
];
