import { join } from 'node:path';
import type { Node } from 'typescript/unstable/ast';
import {
  isBindingElement,
  isElementAccessExpression,
  isJsxSelfClosingElement,
  isObjectBindingPattern,
  isPropertyAccessExpression,
  isStringLiteral,
} from 'typescript/unstable/ast/is';
import { API, type Type, TypeFlags } from 'typescript/unstable/sync';

/** Where a project reads a text property with one of these names: `file: code`. Types come from the compiler, so names of
 *  variables, casts, destructuring and brackets make no difference. Attributes of the elements in `except` are left out. */
export function textReads(
  root: string,
  project: string,
  names: readonly string[],
  except: readonly string[],
): string[] {
  const api = new API({ cwd: root });
  try {
    const config = join(root, project, 'tsconfig.json');
    const opened = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (!opened) throw new Error(`${config} is no project`);
    const { program, checker } = opened;
    const inside = join(root, project, '/');
    const reads = program
      .getSourceFileNames()
      .filter((path) => path.startsWith(inside))
      .sort()
      .flatMap((path) => {
        const source = program.getSourceFile(path);
        return source ? readsBelow(source, names).filter(({ read }) => !except.includes(elementOf(read))) : [];
      });
    const named = reads.map(({ name }) => name);
    const types = checker.getTypeAtLocation(named);
    const symbols = checker.getSymbolAtLocation(named);
    return reads.flatMap(({ read }, at) => {
      // An index signature is no property of that name.
      if (!mayBeText(types[at]) || symbols[at]?.name === '__index') return [];
      return [`${read.getSourceFile().fileName.slice(join(root, '/').length)}: ${read.getText()}`];
    });
  } finally {
    api.close();
  }
}

function mayBeText(type: Type | undefined): boolean {
  if (type?.isUnionType()) return (type.getTypes() ?? []).some(mayBeText);
  return !type || (type.flags & (TypeFlags.StringLike | TypeFlags.Any | TypeFlags.Unknown)) !== 0;
}

/** `name`: the node that has the type of the property. */
type Read = { read: Node; name: Node };

function readsBelow(node: Node, names: readonly string[]): Read[] {
  const own = readOf(node, names);
  const found: Read[] = own ? [own] : [];
  node.forEachChild((child) => void found.push(...readsBelow(child, names)));
  return found;
}

function readOf(node: Node, names: readonly string[]): Read | null {
  if (isPropertyAccessExpression(node)) return names.includes(node.name.getText()) ? { read: node, name: node } : null;
  if (isElementAccessExpression(node)) {
    const { argumentExpression: key } = node;
    return isStringLiteral(key) && names.includes(key.text) ? { read: node, name: node } : null;
  }
  if (!isBindingElement(node) || !isObjectBindingPattern(node.parent) || !node.name) return null;
  return names.includes((node.propertyName ?? node.name).getText()) ? { read: node.parent, name: node.name } : null;
}

/** The JSX element that an expression is an attribute of. */
function elementOf(read: Node): string {
  const element = read.parent?.parent?.parent?.parent;
  return element && isJsxSelfClosingElement(element) ? element.tagName.getText() : '';
}
