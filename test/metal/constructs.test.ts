import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONSTRUCTS, constructsIn, FAMILY, kernelTexts, LANGUAGE, TENSORS, withTable } from './constructs.ts';

//  What the kernels use of Apple's language is in the version and on the GPUs that the app asks for.

const root = join(import.meta.dirname, '..', '..');
const text = (path: string) => readFileSync(join(root, path), 'utf8');

test('every construct of a kernel has its row, and every row its use', () => {
  expect(constructsIn(kernelTexts())).toEqual(CONSTRUCTS.flatMap(({ names }) => names).sort());
});

test('none needs more than the language version and the GPU family that the app asks for', () => {
  const used = constructsIn(kernelTexts('without tensors'));
  for (const { chapter, since, family, names } of CONSTRUCTS) {
    const everywhere = names.some((name) => used.includes(name));
    expect(since, chapter).toBeLessThanOrEqual(everywhere ? LANGUAGE : TENSORS.language);
    expect(family, chapter).toBeLessThanOrEqual(everywhere ? FAMILY : TENSORS.family);
  }
  // Newer than the SDKs that the app is built with: by number.
  expect(text('native/metal/pipelines/pipelines.mm')).toContain(
    `"${TENSORS.include}") != std::string_view::npos)\n    options.languageVersion = static_cast<MTLLanguageVersion>(${TENSORS.language} << 16);`,
  );
  expect(text('native/metal/device/device.mm')).toContain(`static_cast<MTLGPUFamily>(${1000 + TENSORS.family})`);
  expect(text('app/launch/metallib.mjs')).toContain(`-std=metal${TENSORS.language.toFixed(1)}`);
  const version = String(LANGUAGE).replace('.', '_');
  expect(text('native/metal/pipelines/pipelines.mm')).toContain(`MTLLanguageVersion${version}`);
  expect(text('app/launch/metallib.mjs')).toContain(`-std=metal${LANGUAGE}`);
  expect(text('native/metal/device/device.mm')).toContain(`MTLGPUFamilyApple${FAMILY}`);
});

test('a construct that is new to the kernels is seen: a function, a type, an attribute, one in a macro', () => {
  const kernels = kernelTexts();
  const known = constructsIn(kernels);
  const seen = (line: string) => constructsIn(`${kernels}\n${line}`).filter((name) => !known.includes(name));
  expect(seen('float x = simd_product(y);')).toEqual(['simd_product']);
  expect(seen('bfloat4 x;')).toEqual(['bfloat4']);
  expect(seen('uint lane [[quad_index_in_threadgroup]];')).toEqual(['[[quad_index_in_threadgroup]]']);
  expect(seen('#define LOUD(x) exp10(x)')).toEqual(['exp10']);
  expect(seen('// simd_product in a comment')).toEqual([]);
});

test('the page has the table of today', () => {
  expect(withTable(text('metal/README.md'))).toBe(text('metal/README.md'));
});
