// What a decoded token and a prompt of 512 may cost on a chip that is not here: bytes over the bandwidth that the best hand-written
// kernels reach (85 %), arithmetic over what MLX reaches of the ALUs (80 %), or, of a decoded
// token, instructions over 80 % of what the ALUs issue (one for every two operations of their peak), whichever is longer, plus the
// dispatches that wait for one another (2 us each). Of a prompt no larger share of the ALUs than products have of what its tiles
// issue (listing.test.ts). An estimate.
// `node test/metal/cost.ts` prints it beside what MLX and llama.cpp were measured at.

/** How the products of a prompt are made: metal/matmul.metal, metal/matmul_half.metal. */
type Tiles = 'floats' | 'halves';

export interface Model {
  name: string;
  /** Read once a token. */
  weightBytes: number;
  /** Recurrent and convolution states, read and written. */
  stateBytes: number;
  /** A token, without the scores and for them. */
  multiplications: number;
  headMultiplications: number;
  deltaLayers: number;
  attentionLayers: number;
  /** Of a decoded token, for each weight: the tests of listing.test.ts count them in LLVM's account of the kernel. */
  instructions: number;
  /** Of a prompt, beside each product of 8 x 8 matrices: counted there too, a load of a matrix as two. */
  beside: Record<Tiles, number>;
}
interface Chip {
  name: string;
  bandwidth: number;
  /** Of the ALUs in fp32, a second. */
  flops: number;
  /** tok/s measured, and by whom, by model name. */
  published: Record<string, string>;
}

const reachable = { bandwidth: 0.85, flops: 0.8 };
const dispatchSeconds = 2e-6;
const perToken = { delta: 5, attention: 6, rest: 2 };
const perPrompt = { delta: 7, attention: 6, rest: 2 };
const packed = 4; // more a layer, in halves
const productInstructions = 16; // of 8 x 8 matrices, a lane; halves are assumed to be no faster than floats
export const prompt = 512;

const qwen3 = {
  stateBytes: 0,
  multiplications: 0.44e9,
  headMultiplications: 0.156e9,
  deltaLayers: 0,
  attentionLayers: 28,
};
const hybrid = {
  ...{ stateBytes: 38e6, multiplications: 0.498e9, headMultiplications: 0.254e9 },
  ...{ deltaLayers: 18, attentionLayers: 6 },
};
const four = { floats: 7.4 + 2, halves: 3.8 + 1.5 };
const eight = { floats: 7 + 2, halves: 3.1 + 1.5 };
export const models: Model[] = [
  { name: 'Qwen3-0.6B Q8_0', weightBytes: 0.633e9, instructions: 3.6, beside: eight, ...qwen3 },
  { name: 'Qwen3.5-0.8B 4-bit', weightBytes: 0.424e9, instructions: 5, beside: four, ...hybrid },
  { name: 'Qwen3.5-0.8B Q8_0', weightBytes: 0.8e9, instructions: 3.6, beside: eight, ...hybrid },
];
// The units for matrices of an M5 are not counted: no kernel here uses them.
export const chips: Chip[] = [
  { name: 'M1', bandwidth: 68e9, flops: 2.6e12, published: {} },
  {
    ...{ name: 'M2 Pro', bandwidth: 200e9, flops: 6.8e12 },
    published: { 'Qwen3-0.6B Q8_0': '116 llama.cpp, 191 ferrox; prompt 3500 llama.cpp' },
  },
  {
    ...{ name: 'M4 Max', bandwidth: 546e9, flops: 16e12 },
    published: {
      'Qwen3-0.6B Q8_0': '402 MLX; prompt 10279 MLX (4-bit, 2048)',
      'Qwen3.5-0.8B 4-bit': '213 llama.cpp (Q4_K_M)',
      'Qwen3.5-0.8B Q8_0': '244 llama.cpp',
    },
  },
  {
    ...{ name: 'M5 Max', bandwidth: 614e9, flops: 16e12 },
    published: { 'Qwen3.5-0.8B 4-bit': '506 MLX; prompt 15300 to 17400 llama.cpp (tensor units)' },
  },
];

const dispatchesOf = ({ deltaLayers, attentionLayers }: Model, each: typeof perToken): number =>
  deltaLayers * each.delta + attentionLayers * each.attention + each.rest;
export const dispatches = (model: Model): number => dispatchesOf(model, perToken);

function decodeSeconds(model: Model, chip: Chip): number {
  const transfer = (model.weightBytes + model.stateBytes) / (reachable.bandwidth * chip.bandwidth);
  const all = model.multiplications + model.headMultiplications;
  const issue = (model.instructions * all) / ((reachable.flops * chip.flops) / 2);
  return Math.max(transfer, (2 * all) / (reachable.flops * chip.flops), issue) + dispatches(model) * dispatchSeconds;
}

function promptSeconds(model: Model, chip: Chip, tiles: Tiles): number {
  const transfer = (model.weightBytes + model.stateBytes) / (reachable.bandwidth * chip.bandwidth);
  const flops = 2 * (model.multiplications * prompt + model.headMultiplications);
  const share = Math.min(reachable.flops, productInstructions / (productInstructions + model.beside[tiles]));
  const more = tiles === 'halves' ? packed * (model.deltaLayers + model.attentionLayers) : 0;
  const waits = dispatchesOf(model, perPrompt) + more;
  return Math.max(transfer, flops / (share * chip.flops)) + waits * dispatchSeconds;
}

export const tokensPerSecond = (model: Model, chip: Chip): number => 1 / decodeSeconds(model, chip);
/** Of a prompt of 512. */
export const promptTokensPerSecond = (model: Model, chip: Chip, tiles: Tiles): number =>
  prompt / promptSeconds(model, chip, tiles);

if (import.meta.main) {
  console.log(
    `estimated tok/s at a short context, and of a prompt of ${prompt} in fp32 and in halves (made on no Mac), published figures beside`,
  );
  for (const model of models) {
    const megabytes = ((model.weightBytes + model.stateBytes) / 1e6).toFixed(0);
    const gigaflops = (2e-9 * (model.multiplications + model.headMultiplications)).toFixed(1);
    console.log(`\n${model.name}: ${dispatches(model)} dispatches, ${megabytes} MB, ${gigaflops} GFLOP a token`);
    for (const chip of chips) {
      const figures = [
        tokensPerSecond(model, chip),
        promptTokensPerSecond(model, chip, 'floats'),
        promptTokensPerSecond(model, chip, 'halves'),
      ];
      const columns = figures.map((each, i) => each.toFixed(0).padStart(i === 0 ? 5 : 7)).join(' ');
      console.log(`  ${chip.name.padEnd(7)} ${columns}   ${chip.published[model.name] ?? 'none published'}`);
    }
  }
}
