/** Instruction sets whose loops differ. avx512bf16 is avx512 with one loop more: where it is, it stands for both. */
export const distinct = (names: readonly string[]): string[] =>
  names.filter((name) => name !== 'avx512' || !names.includes('avx512bf16'));
