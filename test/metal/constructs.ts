// Every construct of the Metal Shading Language that a kernel uses, with the version and the GPU family it needs.
//   node test/metal/constructs.ts --write     puts the table into metal/README.md
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const page = join(root, 'metal', 'README.md');
export const begins = '<!-- constructs -->';
export const ends = '<!-- /constructs -->';

/** What `native/metal` asks for: MTLLanguageVersion3_1 and MTLGPUFamilyApple7. A kernel with tensors is compiled for the version
 *  and used on the family that have them. */
export const LANGUAGE = 3.1;
export const FAMILY = 7;
export const TENSORS = { language: 4, family: 10, include: '#include <metal_tensor>' };

/** `since`: the language version that brought it to macOS (1.1 is the first there); `family`: the first Apple GPU family with it, 0 for
 *  all. */
export type Construct = { chapter: string; since: number; family: number; names: readonly string[] };

/** From the Metal Shading Language Specification and the Metal Feature Set Tables (June 2024). */
export const CONSTRUCTS: readonly Construct[] = [
  {
    chapter: 'Scalar and vector types',
    since: 1.1,
    family: 0,
    names: words(
      'half uchar ushort uint half4 float2 float4 uint2 uint3 uint4 packed_half2 packed_half4 packed_float2 packed_float4',
    ),
  },
  { chapter: 'Integers of 64 bits', since: 2.2, family: 3, names: words('ulong ulong2') },
  {
    chapter: 'Reinterpretation, constants, the namespace',
    since: 1.1,
    family: 0,
    names: words('as_type INFINITY NAN metal'),
  },
  { chapter: 'Function constants', since: 1.2, family: 0, names: words('[[function_constant]]') },
  {
    chapter: 'Arguments of kernels',
    since: 1.1,
    family: 0,
    names: words(
      '[[buffer]] [[threadgroup]] [[thread_position_in_grid]] [[threadgroup_position_in_grid]] [[threadgroups_per_grid]] [[threads_per_threadgroup]] [[thread_index_in_threadgroup]]',
    ),
  },
  {
    chapter: 'Arguments about SIMD-groups',
    since: 2,
    family: 2,
    names: words('[[thread_index_in_simdgroup]] [[simdgroup_index_in_threadgroup]] [[simdgroups_per_threadgroup]]'),
  },
  {
    chapter: 'Names and limits of kernels',
    since: 2.1,
    family: 0,
    names: words('[[host_name]] [[max_total_threads_per_threadgroup]]'),
  },
  { chapter: 'Kernels by attribute', since: 2.3, family: 0, names: words('[[kernel]]') },
  {
    chapter: 'Mathematics',
    since: 1.1,
    family: 0,
    names: words('clamp cos dot exp fabs isnan log max min rint sin sqrt tanh precise'),
  },
  {
    chapter: 'Barriers of a threadgroup',
    since: 1.1,
    family: 0,
    names: words('threadgroup_barrier mem_flags mem_device mem_threadgroup'),
  },
  { chapter: 'Barrier of a SIMD-group', since: 2, family: 2, names: words('simdgroup_barrier') },
  {
    chapter: 'Atomics of 32 bits',
    since: 1.1,
    family: 0,
    names: words(
      'atomic_uint atomic_load_explicit atomic_store_explicit atomic_fetch_add_explicit atomic_fetch_min_explicit memory_order_relaxed',
    ),
  },
  {
    chapter: 'SIMD-group: exchange and vote',
    since: 2,
    family: 6,
    names: words('simd_any simd_shuffle simd_shuffle_xor'),
  },
  {
    chapter: 'SIMD-group: sums and extremes',
    since: 2.1,
    family: 7,
    names: words('simd_max simd_min simd_prefix_inclusive_sum simd_sum'),
  },
  {
    chapter: 'SIMD-group: 8 x 8 matrices',
    since: 2.3,
    family: 7,
    names: words(
      'simdgroup_half8x8 simdgroup_float8x8 make_filled_simdgroup_matrix simdgroup_load simdgroup_store simdgroup_multiply simdgroup_multiply_accumulate',
    ),
  },
  {
    chapter: 'Tensors, and their products on matrix units (macOS 26)',
    since: TENSORS.language,
    family: TENSORS.family,
    names: words(
      'array dextents execution_simdgroups matmul2d matmul2d_descriptor mode mpp tensor tensor_inline tensor_ops',
    ),
  },
];

function words(text: string): string[] {
  return text.split(' ');
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');

/** The kernels and their headers: all of them, or those that do without tensors. */
export function kernelTexts(which: 'all' | 'without tensors' = 'all'): string {
  const files = [join(root, 'metal'), join(root, 'metal', 'shared')].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(metal|h)$/.test(name))
      .map((name) => join(folder, name)),
  );
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  return texts.filter((text) => which === 'all' || !text.includes(TENSORS.include)).join('\n');
}

/** Attributes as `[[name]]`, and every name that the stand-in's standard library declares: a kernel that used another would not
 *  compile there. */
export function constructsIn(text: string): string[] {
  const kernels = withoutComments(text);
  const attributes = [...kernels.matchAll(/\[\[([^\]]*)\]\]/g)]
    .flatMap(([, inside = '']) => inside.replace(/\([^)]*\)/g, '').split(','))
    .map((name) => `[[${name.trim()}]]`);
  const identifiers = new Set(kernels.match(/\b[A-Za-z_]\w*\b/g));
  return [...new Set([...attributes, ...DECLARED.filter((name) => identifiers.has(name))])].sort();
}

/** Parameters of the stand-in's own macros and templates, which kernels use as names of their own. */
const OWN = ['N', 'name', 't'];

function declared(): string[] {
  const headers = ['metal_stdlib', 'metal_tensor', 'MetalPerformancePrimitives/MetalPerformancePrimitives.h'];
  const text = withoutComments(
    headers.map((header) => readFileSync(join(root, 'test/metal/standin/msl', header), 'utf8')).join('\n'),
  );
  const patterns = [
    /\b(?:inline|constexpr)\s[^;{}()]*?\b([a-z_]\w*)\(/g,
    /__F[12]\((\w+),/g,
    /typedef [^;{}]*?\b(\w+)(?: __attribute__\(\([^;]*\))?;/g,
    /#define (\w+)/g,
    /\b(?:struct|enum class|enum|namespace|using)\s+(\w+)/g,
    /\b(mem_\w+|memory_order_\w+)\b/g,
  ];
  const names = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
  const sized = (pattern: RegExp, prefix: string) =>
    [...text.matchAll(pattern)].flatMap(([, type]) => [2, 3, 4].map((size) => `${prefix}${type}${size}`));
  const all = [
    ...names,
    ...sized(/__MTL_VS\((\w+)\)/g, ''),
    ...sized(/__MTL_P\((\w+)\)/g, 'packed_'),
    'min',
    'max',
    'clamp',
  ];
  return [...new Set(all)].filter((name) => !name.startsWith('__') && !OWN.includes(name));
}

const DECLARED = declared();

export function table(): string {
  const rows = CONSTRUCTS.map(({ chapter, since, family, names }) => {
    const shown = names.map((name) => `\`${name}\``).join(' ');
    return `| ${chapter} | ${since.toFixed(1)} | ${family === 0 ? 'all' : `Apple${family}`} | ${shown} |`;
  });
  return ['| what | since MSL | GPUs | names |', '|---|---|---|---|', ...rows].join('\n');
}

/** The page with the table in its place. */
export function withTable(text: string): string {
  const [from, to] = [text.indexOf(begins), text.indexOf(ends)];
  if (from < 0 || to < from) throw new Error(`[constructs] ${page} has no place for the table`);
  return `${text.slice(0, from + begins.length)}\n${table()}\n${text.slice(to)}`;
}

if (import.meta.main && process.argv.includes('--write')) {
  writeFileSync(page, withTable(readFileSync(page, 'utf8')));
}
