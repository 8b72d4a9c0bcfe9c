/** Instruction sets whose loops differ. avx512bf16 is avx512 with one more loop, so it stands for both where it exists. */
export const distinct = (names: readonly string[]): string[] =>
  names.filter((name) => name !== 'avx512' || !names.includes('avx512bf16'));
