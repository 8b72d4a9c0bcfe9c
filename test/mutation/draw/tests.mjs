// Which tests are tried against a slip, the quick ones first.

/** Rounds of test files by side: what reaches nobody in the first is tried with the next. */
export const ROUNDS = {
  typescript: [
    { where: ['app/', 'main/', 'renderer/'], env: { LONGHAND_FAST: '1' } },
    { where: ['app/', 'main/', 'attack/'], env: {} },
  ],
  native: [
    { where: ['native/', 'ops/', 'golden/'], env: {} },
    { where: ['metal/', 'vulkan/', 'app/engine/', 'app/conversion/', 'attack/model-files'], env: {} },
  ],
};

/** Kernels that a driver compiles cannot say which slips were reached: their tests by name. */
const KERNELS = [
  [/sample/, ['ops/sample', 'metal/async-decode']],
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
  [/linear|dots|blocks|matmul|embed/, ['ops/linear', 'ops/moe', 'metal/checked-ops', 'metal/fallback']],
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
