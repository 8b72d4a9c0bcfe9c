import {
  LATENT_ROPES,
  LATENT_SVDS,
  type LatentForm,
  type LatentPlan,
  type LatentSize,
  type ModelDescription,
  readsText,
} from '../../../app/protocol/index.ts';

/** What the user wants. Some of it may not exist for a model. `share`: of what it keeps of a token now; `pairs`: null leaves it to us. */
export type LatentWish = { share: number; pairs: number | null } & Pick<LatentForm, 'rope' | 'svd'>;

/** What somebody who knows none of these words should get: what loses the least. */
export const USUAL_LATENT: LatentWish = { share: 0.5, pairs: null, rope: '2-norm', svd: 'regression' };

export type LatentChoice = {
  form: LatentForm;
  size: LatentSize;
  /** The largest first. */
  sizes: LatentSize[];
  pairs: number[];
  ropes: LatentForm['rope'][];
  svds: LatentForm['svd'][];
};

const nearest = <Value>(values: readonly Value[], distance: (value: Value) => number): Value | undefined =>
  values.toSorted((a, b) => distance(a) - distance(b))[0];

export const shareOf = (plan: Pick<LatentPlan, 'contextBytesPerToken'>, size: LatentSize): number =>
  size.contextBytesPerToken / Math.max(1, plan.contextBytesPerToken);

/** One size for each target, in which half of what is kept tells positions: measured to lose less than half as much as an eighth of
 *  the pairs, at the same memory (app/conversion/README.md). */
function balanced(
  plan: Pick<LatentPlan, 'allPairs' | 'contextBytesPerToken'>,
  sizes: readonly LatentSize[],
): LatentSize[] {
  // Targets are sixteenths, which a rank may miss by a little.
  const targets = Map.groupBy(sizes, (size) => Math.round(16 * shareOf(plan, size)));
  return [...targets].flatMap(
    ([sixteenths, own]) => nearest(own, ({ pairs }) => Math.abs(pairs - (plan.allPairs * sixteenths) / 16)) ?? [],
  );
}

/** The existing form nearest to a wish; null if the context memory cannot be made any smaller. */
export function latentChoiceOf(plan: Omit<LatentPlan, 'modelId' | 'free'>, wish: LatentWish): LatentChoice | null {
  const svds = LATENT_SVDS.filter((svd) => plan.reads || !readsText({ rope: 'high', svd }));
  const ropes = LATENT_ROPES.filter((rope) => plan.reads || !readsText({ rope, svd: 'joint' }));
  const svd = svds.find((one) => one === wish.svd) ?? 'joint';
  const rope = ropes.find((one) => one === wish.rope) ?? 'high';
  const fitting = plan.sizes.filter(({ split }) => split === (svd === 'split'));
  const counts = [...new Set(fitting.map(({ pairs }) => pairs))];
  const chosen = nearest(counts, (count) => Math.abs(count - (wish.pairs ?? count)));
  const sizes = (
    wish.pairs === null ? balanced(plan, fitting) : fitting.filter(({ pairs }) => pairs === chosen)
  ).toSorted((a, b) => b.contextBytesPerToken - a.contextBytesPerToken);
  const size = nearest(sizes, (one) => Math.abs(shareOf(plan, one) - wish.share));
  return size
    ? { form: { pairs: size.pairs, rope, rank: size.rank, svd }, size, sizes, pairs: counts, ropes, svds }
    : null;
}

/** The same model with latent attention, for a forecast of its memory. */
export const withLatent = (
  description: ModelDescription,
  { weightBytes, activeBytes, contextBytesPerToken, memory }: LatentSize,
): ModelDescription => ({ ...description, weightBytes, activeBytes, contextBytesPerToken, memory });
