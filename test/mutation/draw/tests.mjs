// Which tests are tried against a mutant, the quick ones first.

const FAST = { LONGHAND_FAST: '1' };
const under = (top, rooms) => rooms.map((room) => `test/${top}${room}/`);

/** Rounds of test files by side: what nobody notices in one is tried with the next, which takes longer. */
export const ROUNDS = {
  typescript: [
    {
      where: [
        ...under('app/', ['store', 'text', 'protocol', 'metrics', 'process', 'pictures']),
        'test/main/',
        'test/renderer/',
      ],
      env: FAST,
    },
    { where: under('app/', ['documents', 'models', 'tools', 'quality', 'conversion', 'core', 'cli']), env: FAST },
    { where: under('app/', ['chat', 'server']), env: FAST },
    { where: [...under('app/', ['engine', 'models', 'cli', 'conversion']), 'test/attack/'], env: {} },
    { where: under('app/', ['chat', 'documents']), env: {} },
  ],
  native: [
    { where: under('native/', ['formats', 'grammar', 'quantize']), env: {} },
    { where: [...under('', ['ops']), ...under('native/', ['architectures'])], env: {} },
    { where: under('native/', ['engine', 'cpu']), env: {} },
    { where: under('', ['metal', 'vulkan']), env: {} },
    { where: [...under('', ['golden']), ...under('app/', ['engine', 'conversion'])], env: {} },
  ],
};

/** Kernels that a driver compiles cannot say which mutants were reached: their tests by name. */
const KERNELS = [
  [/matmul_half/, ['metal/half', 'ops/linear', 'ops/moe']],
  [/sample/, ['ops/sample', 'metal/engine/async-decode']],
  [/sparse|block/, ['ops/sparse', 'metal/checked-ops']],
  [/gated_delta|chunk/, ['ops/gated_delta', 'ops/gla', 'metal/chunks', 'metal/checked-ops']],
  [/gla/, ['ops/gla', 'metal/chunks', 'metal/checked-ops']],
  [/mla/, ['ops/mla', 'metal/checked-ops']],
  [/moe/, ['ops/moe', 'metal/checked-ops']],
  [/conv/, ['ops/short_conv', 'metal/checked-ops']],
  [/norm|reduce/, ['ops/norm', 'ops/linear', 'metal/checked-ops']],
  [
    /attention|rope|cache|copy/,
    ['ops/attention', 'ops/sparse', 'ops/mla', 'metal/attention-groups', 'metal/checked-ops'],
  ],
  [/linear|dots|blocks|matmul|embed/, ['ops/linear', 'ops/moe', 'metal/checked-ops', 'metal/engine/fallback']],
];
const LAST = {
  metal: ['metal/checked', 'metal/golden'],
  native: ['vulkan/golden', 'vulkan/variants', 'vulkan/ranges'],
};

export function testsOfKernel(file) {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const own = KERNELS.find(([pattern]) => pattern.test(name))?.[1] ?? ['ops/linear', 'ops/attention'];
  const side = file.split('/')[0];
  return [...own, ...LAST[side]]
    .filter((test) => side === 'metal' || !test.startsWith('metal/'))
    .map((test) => `test/${test}.test.ts`);
}
