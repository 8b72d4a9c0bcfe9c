// node native/vulkan/shaders/compile.mjs [FOLDER]: compiles shaders/*.comp into FOLDER (default native/vulkan/spirv), whose
// words are committed so that no build needs a shader compiler. Needs glslc of Debian 12 (shaderc 2023.2): the words are
// compared with this compiler's (test/vulkan/spirv.test.ts). Validated by spirv-val.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const shaders = import.meta.dirname;
const target = resolve(process.argv[2] ?? join(shaders, '..', 'spirv'));
mkdirSync(target, { recursive: true });
for (const file of readdirSync(shaders).filter((name) => name.endsWith('.comp'))) {
  const out = join(target, file.replace('.comp', '.spv'));
  execFileSync('glslc', ['--target-env=vulkan1.2', '-O', '-Werror', '-o', out, file], {
    cwd: shaders,
    stdio: 'inherit',
  });
  execFileSync('spirv-val', ['--target-env', 'vulkan1.2', out], { stdio: 'inherit' });
}
