/** Instruction sets whose loops differ. avx512bf16 is avx512 with one more loop, so it stands for both where it exists. */
export const distinct = (names: readonly string[]): string[] =>
  names.filter((name) => name !== 'avx512' || !names.includes('avx512bf16'));

/** Sets that multiply in tiles, of which one is only the scalar model of the other: the exact path knows no tiles. */
export const TILED: readonly string[] = ['amx', 'scalar-tiles'];
