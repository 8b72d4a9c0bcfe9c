// A test may be skipped only for one of these reasons, and only on a machine where that reason can hold.

/** `holds`: whether the reason can hold on a machine. Any other skip is a failure in CI. */
export const REASONS = [
  { reason: /^needs a Mac\b/, holds: ({ platform }) => platform !== 'darwin' },
  // Hosted CI machines are real Macs, but with a paravirtual GPU of the Apple5 family.
  { reason: /^needs an Apple7 GPU\b/, holds: ({ platform }) => platform === 'darwin' },
  { reason: /^needs Linux\b/, holds: ({ platform }) => platform !== 'linux' },
  { reason: /^needs arm64\b/, holds: ({ arch }) => arch !== 'arm64' },
  { reason: /^needs x86-64\b/, holds: ({ arch }) => arch !== 'x64' },
  { reason: /^needs a CPU with\b/, holds: () => true },
  { reason: /^needs a GPU\b/, holds: () => true },
  { reason: /^needs glslc\b/, holds: () => true },
  { reason: /^needs spirv-val\b/, holds: () => true },
  { reason: /^needs SwiftShader\b/, holds: () => true },
  { reason: /^needs a mount of its own\b/, holds: ({ platform }) => platform === 'linux' },
  { reason: /^needs to run as root\b/, holds: ({ root }) => !root },
  { reason: /^needs to run without root\b/, holds: ({ root }) => root },
  { reason: /^needs pdftoppm\b/, holds: () => true },
  { reason: /^needs qemu-/, holds: () => true },
  { reason: /^needs ThreadSanitizer\b/, holds: () => true },
  { reason: /^needs an Electron binary\b/, holds: () => true },
  { reason: /^needs a window system\b/, holds: ({ platform }) => platform === 'linux' },
];

export const here = () => ({ platform: process.platform, arch: process.arch, root: process.getuid?.() === 0 });

/** @param {{ name: string, reason: string }[]} skips @returns {{ name: string, reason: string, expected: boolean }[]} */
export const judged = (skips, machine = here()) =>
  skips.map((skip) => ({
    ...skip,
    expected: REASONS.some(({ reason, holds }) => reason.test(skip.reason) && holds(machine)),
  }));
