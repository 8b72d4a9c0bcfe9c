// What a kernel costs, from LLVM's instructions of its real text (standin.listing): instructions of its hottest loop, and
// how many registers are alive at once. Both are estimates of what Apple's compiler makes of the same text.

interface Instruction {
  result: string | undefined;
  operation: string;
  uses: string[];
  /** 32-bit registers of the result. */
  words: number;
  /** Of a phi: which value comes from which block. */
  incoming: { value: string; block: string }[];
  /** Bytes on the stack of an alloca. */
  bytes: number;
}
interface Block {
  name: string;
  instructions: Instruction[];
  next: string[];
}
export interface Listed {
  name: string;
  blocks: Block[];
}

const VALUE = /%[\w.$-]+|%"[^"]+"/g;

function wordsOf(type: string): number {
  const vector = /^<(\d+) x (\S+)>$/.exec(type);
  if (vector) return Number(vector[1]) * wordsOf(vector[2] ?? '');
  const array = /^\[(\d+) x (.+)\]$/.exec(type);
  if (array) return Number(array[1]) * wordsOf(array[2] ?? '');
  if (type === 'half' || type === 'bfloat') return 0.5;
  return type === 'float' ? 1 : 0; // whole numbers and addresses are recomputed where registers are short
}

/** The type of what an instruction gives, as far as it is written. */
function typeOf(text: string): string {
  const cast = / to (<\d+ x \w+>|\w+)/.exec(text);
  if (/^(?:zext|sext|trunc|uitofp|sitofp|fptoui|fptosi|fpext|fptrunc|bitcast|ptrtoint|inttoptr)\b/.test(text))
    return cast?.[1] ?? 'i32';
  if (/^(?:getelementptr|alloca)\b/.test(text)) return 'ptr';
  if (/^[if]cmp\b/.test(text)) return 'i1';
  const found = /\b(i1|i8|i16|i32|i64|half|float|double|ptr|bfloat|<\d+ x \w+>|void)(?=[ ,*])/.exec(
    text.replace(/^(?:tail |musttail )?call /, ''),
  );
  return found?.[1] ?? 'i32';
}

/** Bytes of a private variable. */
function bytesOf(type: string): number {
  const array = /^\[(\d+) x (.+)\]$/.exec(type);
  if (array) return Number(array[1]) * bytesOf(array[2] ?? '');
  const vector = /^<(\d+) x (\S+)>$/.exec(type);
  if (vector) return Number(vector[1]) * bytesOf(vector[2] ?? '');
  return { i8: 1, i16: 2, half: 2, bfloat: 2, i64: 8, ptr: 8, double: 8 }[type] ?? 4;
}

/** Every kernel of a listing, by its host name. */
export function kernelsOf(listing: string): Map<string, Listed> {
  const structures = new Map(
    [...listing.matchAll(/^(%"?[\w.:]+"?) = type (\{.*\})$/gm)].map(([, name, body]) => [name ?? '', body ?? '']),
  );
  const sized = (type: string): number => {
    const array = /^\[(\d+) x (.+)\]$/.exec(type.trim());
    if (array) return Number(array[1]) * sized(array[2] ?? '');
    if (/simdgroup_matrix/.test(type)) return 8; // 64 elements over 32 lanes
    const body = structures.get(type.trim());
    if (body)
      return body
        .slice(1, -1)
        .split(/,(?![^[]*\])/)
        .reduce((sum, each) => sum + sized(each), 0);
    return bytesOf(type.trim());
  };
  const all = new Map<string, Listed>();
  for (const [, name = '', body = ''] of listing.matchAll(/^define .*@"?kernel\.(\w+)"?\(.*\{\n([\s\S]*?)^\}/gm)) {
    const blocks: Block[] = [{ name: '%entry', instructions: [], next: [] }];
    for (const line of body.replace(/,\n\s+/g, ', ').split('\n')) {
      const label = /^([\w.$-]+):/.exec(line);
      if (label) {
        blocks.push({ name: `%${label[1]}`, instructions: [], next: [] });
        continue;
      }
      const text = line
        .replace(/, !.*$/, '')
        .replace(/;.*$/, '')
        .trim();
      const block = blocks.at(-1) as Block;
      if (text === '' || /^[\]}]/.test(text)) continue;
      const [, result, right = ''] = /^(?:(%[\w.$-]+) = )?(.*)$/.exec(text) ?? [];
      const operation = /^(?:tail call|musttail call|\w+)/.exec(right)?.[0].replace(/^\w+ call/, 'call') ?? '';
      const labels = [...right.matchAll(/label (%[\w.$-]+)/g)].map(([, each]) => each ?? '');
      if (operation === 'br' || operation === 'switch') block.next = labels;
      const incoming =
        operation === 'phi'
          ? [...right.matchAll(/\[ ([^,]+), (%[\w.$-]+) \]/g)].map(([, value = '', from = '']) => ({
              value,
              block: from,
            }))
          : [];
      block.instructions.push({
        result,
        operation: operation === 'call' ? `call ${/@"?([\w.]+)/.exec(right)?.[1] ?? ''}` : operation,
        uses: operation === 'phi' ? [] : (right.match(VALUE) ?? []).filter((each) => !labels.includes(each)),
        words: result ? wordsOf(typeOf(right)) : 0,
        incoming,
        bytes: operation === 'alloca' ? sized(/^alloca (.*?)(?:, align.*)?$/.exec(right)?.[1] ?? '') : 0,
      });
    }
    all.set(name, { name, blocks });
  }
  return all;
}

/** The innermost loop with the most multiplications: the blocks of it. */
function hottest({ blocks }: Listed): Block[] {
  const index = new Map(blocks.map((block, i) => [block.name, i]));
  const loops: Block[][] = [];
  for (const [end, block] of blocks.entries())
    for (const next of block.next) {
      const start = index.get(next) ?? blocks.length;
      if (start <= end) loops.push(blocks.slice(start, end + 1));
    }
  const products = (loop: Block[]) => loop.flatMap(({ instructions }) => instructions).filter(isProduct).length;
  const most = Math.max(0, ...loops.map(products));
  return loops.filter((loop) => products(loop) === most).toSorted((a, b) => a.length - b.length)[0] ?? [];
}
const isProduct = ({ operation }: Instruction) => operation === 'fmul' || /^call llvm\.fmuladd/.test(operation);
/** Free on a GPU: names, addresses that a load takes in, halves of registers, halves as operands, and what the loop itself
 *  needs once. */
const FREE =
  /^(?:phi|getelementptr|zext|trunc|bitcast|extractelement|fpext|br|alloca|unreachable|call llvm\.(?:lifetime|assume|dbg|experimental))/;

/** Instructions of the hottest loop of a kernel, free ones left out, an addition whose factor is a product counted once. */
export function loopInstructions(kernel: Listed): number {
  const all = hottest(kernel).flatMap(({ instructions }) => instructions);
  const products = new Set(all.filter(({ operation }) => operation === 'fmul').map(({ result }) => result));
  const fused = all.filter(
    ({ operation, uses }) => /^f(add|sub)$/.test(operation) && uses.some((each) => products.has(each)),
  );
  return all.filter(({ operation }) => !FREE.test(operation)).length - fused.length;
}

/** Of addresses, counters and what an instruction needs on its way. */
const ALLOWANCE = 16;

/** The most 32-bit registers alive at once, as estimated: fractions that live in registers, private arrays, and an allowance. */
export function liveRegisters({ blocks }: Listed): number {
  const words = new Map<string, number>();
  let arrays = 0;
  for (const { instructions } of blocks)
    for (const { result, words: size, operation, bytes } of instructions) {
      if (result) words.set(result, operation === 'alloca' ? 0 : size);
      arrays += bytes / 4;
    }
  const byName = new Map(blocks.map((block) => [block.name, block]));
  const liveIn = new Map<string, Set<string>>(blocks.map(({ name }) => [name, new Set()]));
  const liveOut = (block: Block) => {
    const live = new Set<string>();
    for (const next of block.next) {
      for (const each of liveIn.get(next) ?? []) live.add(each);
      for (const { operation, incoming } of byName.get(next)?.instructions ?? [])
        if (operation === 'phi')
          for (const { value, block: from } of incoming)
            if ((from === block.name || (from === '%0' && block.name === '%entry')) && words.has(value))
              live.add(value);
    }
    return live;
  };
  let most = 0;
  const through = (block: Block) => {
    const live = liveOut(block);
    const size = () => [...live].reduce((sum, each) => sum + (words.get(each) ?? 0), 0);
    most = Math.max(most, size());
    for (const { result, uses } of block.instructions.toReversed()) {
      if (result) live.delete(result);
      for (const each of uses) if (words.has(each)) live.add(each);
      most = Math.max(most, size());
    }
    return live;
  };
  for (let changed = true; changed; ) {
    changed = false;
    most = 0;
    for (const block of blocks.toReversed()) {
      const live = through(block);
      const before = liveIn.get(block.name) as Set<string>;
      if (live.size !== before.size) {
        liveIn.set(block.name, live);
        changed = true;
      }
    }
  }
  return Math.ceil(most + arrays) + ALLOWANCE;
}

/** How many 32-bit registers a thread has on Apple7 and Apple8, by threads of a threadgroup: Mesa's table for the same
 *  GPUs (src/asahi/compiler, agx_occupancy). */
const REGISTERS: readonly [threads: number, registers: number][] = [
  [384, 128],
  [448, 116],
  [512, 104],
  [576, 92],
  [640, 80],
  [704, 72],
  [768, 68],
  [832, 64],
  [896, 56],
  [1024, 52],
];
export const registersFor = (threads: number) => REGISTERS.find(([most]) => threads <= most)?.[1] ?? 0;
