// What a Metal header declares, by clang's own account of it: how the stand-in's is held against Apple's.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { forApple } from './apple.ts';

interface Node {
  kind: string;
  name?: string;
  inner?: Node[];
  returnType?: { qualType: string };
  type?: { qualType: string };
  value?: string;
}

/** What a header declares: methods by owner and selector with their types, and constants with their values. */
export function declarations(flags: string[]): Map<string, string> {
  const text = execFileSync(
    'clang++-19',
    [
      ...['-x', 'objective-c++', '-std=c++20', '-fobjc-arc', '-fblocks', '-fsyntax-only', '-w', ...flags],
      ...['-Xclang', '-ast-dump=json', '-'],
    ],
    { input: '#import <Metal/Metal.h>\n', encoding: 'utf8', maxBuffer: 1 << 29 },
  );
  const all = new Map<string, string>();
  const plain = (type?: { qualType: string }) =>
    (type?.qualType ?? 'void')
      .replace(
        /\b(_Nonnull|_Nullable|_Null_unspecified|__strong|__autoreleasing|__unsafe_unretained|enum|struct|const)\b/g,
        '',
      )
      .replace(/\binstancetype\b/g, 'id')
      .replace(/\b(NSArray|NSDictionary)<[^<>]*(<[^<>]*>[^<>]*)*>/g, '$1')
      .replace(/\bNSStringEncoding\b/g, 'NSUInteger')
      .replace(/ObjectType|KeyType|\b[TKV]\b/g, 'id')
      .replace(/\bCFTimeInterval\b|\bNSTimeInterval\b/g, 'double')
      .replace(/\bMTLTimestamp\b|\bunsigned long long\b/g, 'uint64_t')
      .replace(/\bMTLCommonCounterSet\b/g, 'NSString *')
      .replace(/\s+/g, '');
  const walk = (node: Node, owner: string) => {
    const inside = /ObjC(Interface|Protocol|Category)Decl/.test(node.kind) ? (node.name ?? owner) : owner;
    if (node.kind === 'ObjCMethodDecl') {
      const types = (node.inner ?? []).filter(({ kind }) => kind === 'ParmVarDecl').map(({ type }) => plain(type));
      all.set(`${owner} ${node.name}`, [plain(node.returnType), ...types].join(' '));
    }
    if (node.kind === 'EnumConstantDecl') {
      const value = JSON.stringify(node).match(/"kind":"ConstantExpr"[\s\S]*?"value":"(-?\d+)"/)?.[1];
      if (value) all.set(`constant ${node.name}`, value);
    }
    for (const each of node.inner ?? []) walk(each, inside);
  };
  walk(JSON.parse(text) as Node, '');
  return all;
}

export const ofApple = () => forApple();
export const ofStandin = (include = join(import.meta.dirname, '../standin/include')) => [
  ...['-fobjc-runtime=macosx-10.15', '-Xclang', '-fobjc-runtime-has-weak', '-isystem', include],
];

// A block and an array of objects, whose types generate.py does not write.
const unwritten = [
  'MTLCommandBuffer addCompletedHandler:',
  'MTLComputeCommandEncoder memoryBarrierWithResources:count:',
];

/** Where `standin` says something else than `real`, or something of Metal that `real` does not know. */
export function unlike(standin: Map<string, string>, real: Map<string, string>): string[] {
  return [...standin].flatMap(([name, types]) => {
    const right = real.get(name);
    if (right === undefined)
      return /^(constant )?MTL/.test(name) && !unwritten.includes(name) ? [`${name} is not Apple's`] : [];
    return right === types ? [] : [`${name}: ${types}, Apple's: ${right}`];
  });
}
