// Mistakes that only a Mac would have shown, made on purpose in the real files: each must be noticed here.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { repository } from '../../support/addon.ts';
import { needsStandin, standin } from '../standin.ts';
import { brokenFlags, type Change, type Command, changed, check, configure, temporary } from './apple.ts';
import { declarations, ofApple, ofStandin, unlike } from './apple-declarations.ts';

needsStandin();
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { folder, remove } = temporary();
let commands: Command[] = [];
let kernels = '';
beforeAll(() => {
  if (process.platform !== 'linux') return;
  commands = configure(folder);
  kernels = mkdtempSync(join(folder, 'kernels-'));
  const texts = [
    `-DMETAL=${join(repository, 'metal')}`,
    `-DPARAMS=${join(repository, 'native/ops/params.h')}`,
    `-DTEXTS=${kernels}`,
  ];
  execFileSync('cmake', [...texts, '-P', join(repository, 'native/metal/embed.cmake')]);
});
afterAll(remove);

/** The name of the mistake, where it is made, and what must be said. */
type Seed = [name: string, change: Change, said: RegExp];
const seed = (name: string, file: string, from: string | RegExp, to: string, said: RegExp): Seed => [
  name,
  { file, from, to },
  said,
];

const host: Seed[] = [
  seed(
    'a misspelt selector',
    'metal/device/commands.mm',
    'setComputePipelineState:',
    'setComputePipeline:',
    /'setComputePipeline:'/,
  ),
  seed(
    'a selector of another class',
    'metal/pipelines/archive.mm',
    'serializeToURL:url(fresh)',
    'serializeTo:url(fresh)',
    /serializeTo/,
  ),
  seed(
    'a misspelt property',
    'metal/device/device.mm',
    'device.hasUnifiedMemory',
    'device.unifiedMemory',
    /unifiedMemory/,
  ),
  seed(
    'a misspelt constant',
    'metal/device/profile.mm',
    'MTLDispatchTypeConcurrent',
    'MTLDispatchTypeParallel',
    /MTLDispatchTypeParallel/,
  ),
  seed(
    'a property that cannot be set',
    'metal/device/device.mm',
    'heap.label = buffer.label =',
    'heap.size = 1; buffer.label =',
    /readonly|setter/,
  ),
  seed(
    'a newer system asked for too low a version',
    'metal/device/residency.mm',
    'Residency::Residency(void* device, void* queue) : objects_(std::make_unique<Objects>()) {\n  if (@available(macOS 15.0, *)) {',
    'Residency::Residency(void* device, void* queue) : objects_(std::make_unique<Objects>()) {\n  if (@available(macOS 14.4, *)) {',
    /only available on macOS 15/,
  ),
  seed(
    'a newer method that is not asked for',
    'metal/device/residency.mm',
    'void Residency::settle() {\n  if (@available(macOS 15.0, *)) {',
    'void Residency::settle() {\n  {',
    /only available on macOS 15/,
  ),
  seed(
    'a newer property that is not asked for',
    'metal/pipelines/pipelines.mm',
    'options.fastMathEnabled = NO;',
    'options.mathMode = MTLMathModeSafe;',
    /only available on macOS 15/,
  ),
  seed(
    'a newer constant that is not asked for',
    'metal/pipelines/pipelines.mm',
    'MTLLanguageVersion3_1',
    'MTLLanguageVersion3_2',
    /only available on macOS 15/,
  ),
  seed(
    'a name that SDKs before macOS 26 do not have',
    'metal/device/device.mm',
    'static_cast<MTLGPUFamily>(1010)',
    'MTLGPUFamilyApple10',
    /only available on macOS 26/,
  ),
  seed(
    'a newer class in a signature',
    'metal/device/residency.mm',
    'id set;',
    'id<MTLResidencySet> set;',
    /only available on macOS 15/,
  ),
  seed(
    'a reference without a bridge',
    'metal/device/device.mm',
    '(__bridge void*)objects->queue',
    '(void*)objects->queue',
    /bridged cast/,
  ),
  seed(
    'Linux sizes: size_t with uint64_t',
    'metal/device/commands.mm',
    'std::min<uint64_t>(committed_',
    'std::min(committed_',
    /no matching function for call to 'min'/,
  ),
  seed(
    'an error by value',
    'metal/pipelines/pipelines.mm',
    'constantValues:constant_values(spec.constants)\n                                                    error:&error]',
    'constantValues:constant_values(spec.constants)\n                                                    error:error]',
    /NSError/,
  ),
  seed(
    'an object where a number is wanted',
    'metal/device/commands.mm',
    'setBytes:params length:params_bytes',
    'setBytes:params length:encoder',
    /incompatible|NSUInteger/,
  ),
  seed(
    'a missing method of the encoder',
    'metal/device/commands.mm',
    '[encoder memoryBarrierWithScope:MTLBarrierScopeBuffers]',
    '[encoder barrierWithScope:MTLBarrierScopeBuffers]',
    /barrierWithScope/,
  ),
  seed(
    'a name that is not used',
    'metal/sparse.mm',
    'namespace longhand::metal {',
    'namespace longhand::metal {\nstatic int nobody(int unused) { return 1; }',
    /unused/,
  ),
  seed(
    'a number that loses digits',
    'metal/device/device.mm',
    'return objects_->device.maxBufferLength / page',
    'const int all = objects_->device.maxBufferLength;\n  return static_cast<size_t>(all) / page',
    /implicit conversion/,
  ),
  seed(
    'a folder that may not be seen',
    'metal/device/arena.mm',
    '#include "metal/device/arena.h"',
    '#include "metal/device/arena.h"\n#include "cpu/kernels/kernels.h"',
    /cpu\/kernels\/kernels\.h' file not found/,
  ),
  seed(
    "a level that Apple's dispatch does not have",
    'metal/device/memory_pressure.mm',
    'QOS_CLASS_UTILITY',
    'QOS_CLASS_LOW',
    /QOS_CLASS_LOW/,
  ),
  seed(
    "a selector of Vision's that is not there",
    'vision/recognise.mm',
    'topCandidates:1',
    'candidates:1',
    /candidates:/,
  ),
  seed(
    'a property of a later Vision',
    'vision/recognise.mm',
    'request.usesLanguageCorrection',
    'request.correctsLanguage',
    /correctsLanguage/,
  ),
  seed(
    "a call that Darwin's kernel does not have",
    'engine/machine/available_memory.cc',
    'host_page_size(mach_host_self(), &page)',
    'host_pagesize(mach_host_self(), &page)',
    /host_pagesize/,
  ),
];

describe('a mistake in the host', () => {
  test.for(host)('%s', async ([, change, said]) => {
    const command = commands.find(({ file }) => file.endsWith(`/native/${change.file}`)) ?? owner(change.file);
    expect(await check(command, change)).toMatch(said);
  });

  /** A file of a unity build, with the command of its unity. */
  function owner(path: string): Command {
    const unity = commands.find(
      ({ file }) => /unity_/.test(file) && readFileSync(file, 'utf8').includes(`/native/${path}`),
    );
    if (!unity) throw new Error(`${path} is compiled nowhere`);
    const file =
      /"([^"]*)"/.exec(
        readFileSync(unity.file, 'utf8')
          .split('\n')
          .find((line) => line.includes(path)) ?? '',
      )?.[1] ?? '';
    return { ...unity, file, words: unity.words.map((word) => (word === unity.file ? file : word)) };
  }
});

const lists = 'native/CMakeLists.txt';
const flags: Seed[] = [
  seed("CMake's own flags for Objective-C++", lists, 'set(CMAKE_OBJCXX_FLAGS_RELEASE "-O2")', '', /NDEBUG/),
  seed('no deployment target', lists, /set\(CMAKE_OSX_DEPLOYMENT_TARGET.*\n/, '', /min=14\.0 is missing/),
  seed('a later deployment target', lists, 'TARGET 14.0', 'TARGET 15.0', /min=14\.0 is missing/),
  seed('no reference counting', lists, 'metal PRIVATE -fobjc-arc', 'metal PRIVATE', /-fobjc-arc is missing/),
  seed(
    'symbols that all can see',
    lists,
    /set\(CMAKE_OBJCXX_VISIBILITY_PRESET hidden\)/,
    '',
    /visibility=hidden is missing/,
  ),
  seed(
    'an older language',
    lists,
    'set(CMAKE_OBJCXX_STANDARD 20)',
    'set(CMAKE_OBJCXX_STANDARD 17)',
    /-std=c\+\+20 is missing/,
  ),
  seed(
    'no question about newer systems',
    lists,
    'add_compile_options(-Werror=unguarded-availability)',
    '',
    /unguarded-availability is missing/,
  ),
  seed('fast mathematics', lists, '-ffp-contract=off)', '-ffp-contract=off -ffast-math)', /fast mathematics/),
];

test.for(flags)('a mistake in the flags: %s', ([, change, said]) => {
  const made = configure(folder, change);
  expect(made.flatMap(brokenFlags).join('\n')).toMatch(said);
});

const kernel: Seed[] = [
  seed(
    'a scalar size beside vector positions',
    'gla.metal',
    'uint2 threadgroup_size [[threads_per_threadgroup]]',
    'uint threadgroup_size [[threads_per_threadgroup]]',
    /all scalar types or all vector types/,
  ),
  seed(
    'a signed position',
    'pack.metal',
    'uint row [[threadgroup_position_in_grid]]',
    'int row [[threadgroup_position_in_grid]]',
    /must be uint, ushort/,
  ),
  seed(
    'one buffer index twice',
    'gla.metal',
    'device float* o [[buffer(5)]]',
    'device float* o [[buffer(4)]]',
    /duplicate buffer index/,
  ),
  seed(
    'a helper without address spaces',
    'norm.metal',
    'kernel void layer_norm(',
    'inline float first(const float* x) { return x[0]; }\nkernel void layer_norm(',
    /address space/,
  ),
  seed(
    'a double',
    'sample.metal',
    '[[max_total_threads_per_threadgroup(1024)]]',
    'constant double HALF = 0.5;\n[[max_total_threads_per_threadgroup(1024)]]',
    /'double' is not allowed/,
  ),
  seed(
    'threadgroup memory with a value',
    'gated_delta.metal',
    'threadgroup float raw[MAX_STEP_VALUES];',
    'threadgroup float raw[MAX_STEP_VALUES] = {};',
    /cannot be initialised/,
  ),
  seed(
    'the type of a built-in misspelt',
    'pack.metal',
    'uint row [[threadgroup_position_in_grid]]',
    'uint row [[threadgroup_position]]',
    /unknown argument attribute/,
  ),
];

test.for(kernel)('a mistake in a kernel: %s', ([, change, said]) => {
  const source = changed(readFileSync(join(kernels, change.file), 'utf8'), change);
  const { stage, error } = standin.run({ source, grid: [1], threads: [1], buffers: [] });
  expect(error).toMatch(said);
  expect(stage).toBe('compile');
});

const header: Seed[] = [
  seed(
    'a selector of its own',
    'Metal/Metal.h',
    '- (void)requestResidency;',
    '- (void)requestResidencyNow;',
    /requestResidencyNow is not Apple's/,
  ),
  seed(
    'a constant of another value',
    'Metal/Metal.h',
    'MTLHeapTypePlacement = 1',
    'MTLHeapTypePlacement = 2',
    /MTLHeapTypePlacement: 2, Apple's: 1/,
  ),
  seed(
    'an argument of another type',
    'Metal/Metal.h',
    '- (BOOL)supportsFamily:(MTLGPUFamily)f;',
    '- (BOOL)supportsFamily:(NSUInteger)f;',
    /supportsFamily:/,
  ),
];

test.for(header)("a mistake in the stand-in's header: %s", ([, change, said]) => {
  const include = mkdtempSync(join(folder, 'include-'));
  cpSync(join(import.meta.dirname, '../standin/include'), include, { recursive: true });
  const file = join(include, change.file);
  writeFileSync(file, changed(readFileSync(file, 'utf8'), change));
  expect(unlike(declarations(ofStandin(include)), declarations(ofApple())).join('\n')).toMatch(said);
});
