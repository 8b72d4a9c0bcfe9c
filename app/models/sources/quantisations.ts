import type { ModelDescription, Variant } from '../../protocol/index.ts';
import { labelOf } from '../storage/quantisation-label.ts';
import { FOLDER, ggufFiles, partsOf } from './remote-headers.ts';
import type { Repository } from './source.ts';

//  The variants of a repository: GGUF files, one per quantisation, or a folder of safetensors.

export type Offer = Pick<Variant, 'id' | 'label' | 'bytes'>;

/** Largest first. Empty if the repository has no model in a known format. */
export function offersOf(repository: Repository): Offer[] {
  const offers: Offer[] = ggufFiles(repository).map((file) => ({
    id: file.name,
    label: labelOf(file.name),
    bytes: partsOf(repository, file).reduce((sum, part) => sum + part.size, 0),
  }));
  const weights = repository.files.filter((file) => /^[^/]+\.safetensors$/.test(file.name));
  if (weights.length > 0 && repository.files.some((file) => file.name === 'config.json')) {
    offers.push({ id: FOLDER, label: '', bytes: weights.reduce((sum, file) => sum + file.size, 0) });
  }
  return offers.sort((a, b) => b.bytes - a.bytes);
}

/** Preferred quantisations: four bits first, the usual balance of size and quality. */
const LIKED = ['Q4_K_M', 'Q4_K_S', 'Q4_K_XL', 'IQ4_XS', 'Q4_0', 'Q5_K_M', 'Q8_0'];

export function suggested(offers: readonly Offer[]): Offer | undefined {
  for (const label of LIKED) {
    const found = offers.find((offer) => offer.label.endsWith(label));
    if (found) return found;
  }
  return offers.at(-1);
}

/** `4-bit` for MLX, which packs its bits into words; otherwise the type of most bytes: "BF16". */
export function folderLabel({ container, types, weightBytes, parameters }: ModelDescription): string {
  if (container === 'mlx') return `${Math.floor((weightBytes * 8) / Math.max(1, parameters))}-bit`;
  const [main] = Object.entries(types).sort((a, b) => b[1] - a[1]);
  return main ? main[0].toUpperCase() : '';
}

/** The description of another quantisation of the same model: sizes that depend on the bits are scaled, the rest stays. */
export function scaled(description: ModelDescription, from: number, to: number): ModelDescription {
  const share = from > 0 ? to / from : 1;
  return {
    ...description,
    types: {},
    weightBytes: description.weightBytes * share,
    activeBytes: description.activeBytes * share,
  };
}
