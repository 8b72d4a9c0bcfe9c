// Every drawn mutant stands in one text, each beside what it replaces, and LONGHAND_MUTANT says which is on: so one build serves
// them all, and processes that a test starts have the mutant too. With LONGHAND_MUTANTS_REACHED, a file, the number of each that is
// reached is noted there.

import { join } from 'node:path';

/** Kernels that a driver compiles know no environment: such a mutant is written into its file and built. */
export const isText = (file) => /\.(metal|comp|glsl)$/.test(file) || /^metal\//.test(file);
const SWITCH_HEADER = join(import.meta.dirname, 'switch.h');
const isCpp = (file) => /\.(cc|h|mm)$/.test(file);

const SWITCH = `
// biome-ignore-all lint: carries mutants
function mutantIsOn(id) {
  // Asked once: loops ask for their mutant a million times.
  const env = globalThis.process?.env;
  mutantIsOn.state ??= { on: Number(env?.LONGHAND_MUTANT), file: env?.LONGHAND_MUTANTS_REACHED, seen: new Set() };
  const { on, file, seen } = mutantIsOn.state;
  if (file && !seen.has(id)) {
    seen.add(id);
    try {
      process.getBuiltinModule('node:fs').appendFileSync(file, id + '\\n');
    } catch {}
  }
  return on === id;
}
`;

function switched({ file, id, operator, from, to, statement }) {
  if (isCpp(file)) {
    if (statement) return `(mutant_is_on(${id}) ? static_cast<void>(0) : static_cast<void>(${from}))`;
    // Of an optional both sides would become one, and one that holds `false` is true.
    const asks = operator === 'guard' || from.startsWith('!');
    if (asks) return `(mutant_is_on(${id}) ? static_cast<bool>(${to}) : static_cast<bool>(${from}))`;
    return `(mutant_is_on(${id}) ? (${to}) : (${from}))`;
  }
  return statement ? `(mutantIsOn(${id}) || (${from}))` : `(mutantIsOn(${id}) ? (${to}) : (${from}))`;
}

/** `text` with all of `sites`, none of which is within another; `lines` gets where each stands now. */
export function instrumented(text, sites, lines = new Map()) {
  let [out, at] = [isCpp(sites[0].file) ? `#include "${SWITCH_HEADER}"\n` : '', 0];
  for (const site of [...sites].sort((a, b) => a.start - b.start)) {
    out += text.slice(at, site.start);
    const first = out.split('\n').length;
    out += switched(site);
    lines.set(site.id, [first, out.split('\n').length]);
    at = site.end;
  }
  // A first line with #! or a directive has to stay first.
  return out + text.slice(at) + (isCpp(sites[0].file) ? '' : SWITCH);
}

/** `text` with one mutant in the place of what was there.
 *  @param {string} text
 *  @param {{ start: number, end: number, to: string, statement?: boolean }} site */
export const replaced = (text, { start, end, to, statement }) =>
  text.slice(0, start) + (statement ? '(void)0' : `(${to})`) + text.slice(end);
