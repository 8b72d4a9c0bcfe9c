// What a decoded token may cost on a chip that is not here: bytes over the bandwidth that the best hand-written kernels reach
// (85 %: engine-techniques 1.2, calm), plus the dispatches that wait for one another (2 us each: qwisp 143). An estimate.
// `node test/metal/cost.ts` prints it beside what MLX and llama.cpp were measured at.

export interface Model {
  name: string;
  /** Read once a token. */
  weightBytes: number;
  /** Recurrent and convolution states, read and written. */
  stateBytes: number;
  deltaLayers: number;
  attentionLayers: number;
}
interface Chip {
  name: string;
  bandwidth: number;
  /** tok/s measured, and by whom, by model name. */
  published: Record<string, string>;
}

const reachable = 0.85;
const dispatchSeconds = 2e-6;
const perToken = { delta: 5, attention: 6, rest: 2 };

export const models: Model[] = [
  { name: 'Qwen3-0.6B Q8_0', weightBytes: 0.633e9, stateBytes: 0, deltaLayers: 0, attentionLayers: 28 },
  { name: 'Qwen3.5-0.8B 4-bit', weightBytes: 0.424e9, stateBytes: 38e6, deltaLayers: 18, attentionLayers: 6 },
  { name: 'Qwen3.5-0.8B Q8_0', weightBytes: 0.8e9, stateBytes: 38e6, deltaLayers: 18, attentionLayers: 6 },
];
export const chips: Chip[] = [
  { name: 'M1', bandwidth: 68e9, published: {} },
  { name: 'M2 Pro', bandwidth: 200e9, published: { 'Qwen3-0.6B Q8_0': '116 llama.cpp, 191 ferrox' } },
  {
    name: 'M4 Max',
    bandwidth: 546e9,
    published: { 'Qwen3-0.6B Q8_0': '402 MLX', 'Qwen3.5-0.8B Q8_0': '244 llama.cpp' },
  },
  { name: 'M5 Max', bandwidth: 614e9, published: { 'Qwen3.5-0.8B 4-bit': '506 MLX' } },
];

export const dispatches = ({ deltaLayers, attentionLayers }: Model): number =>
  deltaLayers * perToken.delta + attentionLayers * perToken.attention + perToken.rest;

export function tokensPerSecond(model: Model, bandwidth: number): number {
  const transfer = (model.weightBytes + model.stateBytes) / (reachable * bandwidth);
  return 1 / (transfer + dispatches(model) * dispatchSeconds);
}

if (import.meta.main) {
  console.log('estimated tok/s at a short context (made on no Mac), published figures beside');
  for (const model of models) {
    console.log(
      `\n${model.name}: ${dispatches(model)} dispatches, ${((model.weightBytes + model.stateBytes) / 1e6).toFixed(0)} MB a token`,
    );
    for (const { name, bandwidth, published } of chips)
      console.log(
        `  ${name.padEnd(7)} ${tokensPerSecond(model, bandwidth).toFixed(0).padStart(5)}   ${published[model.name] ?? ''}`,
      );
  }
}
