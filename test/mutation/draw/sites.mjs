// Where in a file a mutant can be made: in the bodies of functions, at what is worked out when the program runs.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { mutantsAt } from './operators.mjs';

const require = createRequire(import.meta.url);
const main = require.resolve('@vscode/tree-sitter-wasm');
const { Parser, Language } = require('@vscode/tree-sitter-wasm');

/** A shader and a kernel read as C++ do. */
const GRAMMARS = {
  ts: 'typescript',
  tsx: 'tsx',
  cc: 'cpp',
  h: 'cpp',
  mm: 'cpp',
  metal: 'cpp',
  comp: 'cpp',
  glsl: 'cpp',
};
const endingOf = (file) => file.slice(file.lastIndexOf('.') + 1);

await Parser.init();
const parsers = new Map();
async function parserOf(grammar) {
  if (!parsers.has(grammar)) {
    const parser = new Parser();
    parser.setLanguage(await Language.load(join(main, '..', `tree-sitter-${grammar}.wasm`)));
    parsers.set(grammar, parser);
  }
  return parsers.get(grammar);
}

/** What the compiler works out, what is only a type, and the words of an error. */
const NOT_WITHIN =
  /^(?:template_argument_list|static_assert_declaration|preproc_\w+|array_declarator|enumerator|requires_clause|decltype|sizeof_expression|alignas_\w+|throw_statement|type_\w+|ERROR)$/;
/** A build that is measured or shipped leaves it out. */
const isAssertion = (node) => node.type === 'call_expression' && node.childForFieldName('function')?.text === 'assert';
const BODY = /^(?:compound_statement|statement_block|arrow_function)$/;
const CONSTANT = /^(?:static )?(?:inline )?constexpr\b/;

/** Every site of a file: `{ file, start, end, line, operator, from, to, statement }`, in the order of the text. */
export async function sitesOf(root, file) {
  const grammar = GRAMMARS[endingOf(file)];
  const text = readFileSync(join(root, file), 'utf8');
  const tree = (await parserOf(grammar)).parse(text);
  const sites = [];
  const visit = (node, inBody) => {
    if (NOT_WITHIN.test(node.type) || isAssertion(node) || (node.type === 'declaration' && CONSTANT.test(node.text)))
      return;
    if (node.type === 'if_statement' && /^if constexpr/.test(node.text)) {
      for (const field of ['consequence', 'alternative'])
        if (node.childForFieldName(field)) visit(node.childForFieldName(field), inBody);
      return;
    }
    if (inBody && !node.hasError)
      for (const { at, operator, to, statement } of mutantsAt(node))
        sites.push({
          file,
          start: at.startIndex,
          end: at.endIndex,
          line: at.startPosition.row + 1,
          operator,
          from: at.text,
          to,
          ...(statement && { statement }),
        });
    const below = inBody || BODY.test(node.type);
    const value = node.type === 'case_statement' ? node.childForFieldName('value') : null;
    for (const child of node.children) if (child.id !== value?.id) visit(child, below);
  };
  visit(tree.rootNode, false);
  tree.delete();
  return sites;
}
