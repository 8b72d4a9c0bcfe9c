import {
  type ModelDescription,
  methodsOf,
  type ShrinkForm,
  type ShrinkMethod,
  type ShrinkPlan,
  shrunkBytes,
} from '../../../app/protocol/index.ts';

type Bits = Extract<ShrinkForm, { format: 'mlx' }>['bits'];
type Group = Extract<ShrinkForm, { format: 'mlx' }>['group'];
type Type = Extract<ShrinkForm, { format: 'gguf' }>['type'];

/** What the user wants. Some of it may not exist for a model. */
export type Wish = { format: ShrinkForm['format']; bits: Bits; group: Group; type: Type; method: ShrinkMethod };

/** What somebody who knows none of these words should get. */
export const USUAL: Wish = { format: 'mlx', bits: 4, group: 64, type: 'Q4_K', method: 'gptq' };

/** What that comes to: an existing form, and what else there is to choose. `bytes`: of the weights. */
export type Choice = {
  form: ShrinkForm;
  method: ShrinkMethod;
  bytes: number;
  formats: ShrinkForm['format'][];
  bits: { value: Bits; bytes: number }[];
  groups: Group[];
  types: { value: Type; bytes: number }[];
  methods: ShrinkMethod[];
};

/** The existing form nearest to a wish; null if the model cannot become any smaller. */
export function choiceOf({ sizes, reads }: Pick<ShrinkPlan, 'sizes' | 'reads'>, wish: Wish): Choice | null {
  const mlx = sizes.flatMap(({ form, bytes }) => (form.format === 'mlx' ? [{ ...form, bytes }] : []));
  const gguf = sizes.flatMap(({ form, bytes }) => (form.format === 'gguf' ? [{ ...form, bytes }] : []));
  const groups = [...new Set(mlx.map(({ group }) => group))];
  const group = groups.includes(wish.group) ? wish.group : groups[0];
  const bits = mlx.filter((one) => one.group === group);
  const nearest = bits.toSorted((a, b) => Math.abs(a.bits - wish.bits) - Math.abs(b.bits - wish.bits))[0];
  const type = gguf.find((one) => one.type === wish.type) ?? gguf[0];
  const found = wish.format === 'mlx' ? (nearest ?? type) : (type ?? nearest);
  if (!found) return null;
  const { bytes, ...form } = found;
  const methods = methodsOf(form, reads);
  const method = methods.find((one) => one === wish.method) ?? methods[0] ?? 'rtn';
  return {
    form,
    method,
    bytes: shrunkBytes(bytes, method),
    formats: [...(mlx.length > 0 ? (['mlx'] as const) : []), ...(gguf.length > 0 ? (['gguf'] as const) : [])],
    bits: bits.map((one) => ({ value: one.bits, bytes: one.bytes })),
    groups,
    types: gguf.map((one) => ({ value: one.type, bytes: one.bytes })),
    methods,
  };
}

/** The same model with weights of this size, for a forecast of its memory. */
export function shrunk(description: ModelDescription, bytes: number): ModelDescription {
  const share = bytes / Math.max(1, description.weightBytes);
  const { memory } = description;
  return {
    ...description,
    weightBytes: bytes,
    activeBytes: description.activeBytes * share,
    memory: memory && { ...memory, weights: memory.weights * share },
  };
}
