import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { transform } from 'lightningcss';
import postcss from 'postcss';
import { rolldown } from 'rolldown';

//  The shipped page for Chromium 83: every script in the language of then, styles without layers, core-js before all.

const require = createRequire(import.meta.url);

export async function lowerPage(from: string, to: string): Promise<void> {
  for (const file of globSync('**/*.*', { cwd: from })) {
    mkdirSync(dirname(join(to, file)), { recursive: true });
    if (extname(file) === '.js' && file.startsWith('assets')) await lowerScript(join(from, file), join(to, file));
    else if (extname(file) === '.css')
      writeFileSync(join(to, file), lowerStyles(readFileSync(join(from, file), 'utf8')));
    else cpSync(join(from, file), join(to, file));
  }
  cpSync(require.resolve('core-js-bundle/minified.js'), join(to, 'assets', 'core-js.js'));
  writeFileSync(join(to, 'assets', 'dom.js'), DOM);
  const page = join(to, 'index.html');
  const before = '<script src="./assets/core-js.js"></script><script src="./assets/dom.js"></script>';
  writeFileSync(page, readFileSync(page, 'utf8').replace('<script', `${before}<script`));
}

/** One file becomes one file of the same name, so that nothing that names it has to be changed. */
async function lowerScript(input: string, file: string): Promise<void> {
  const bundle = await rolldown({
    input,
    external: (id, parent) => parent === input && id.startsWith('.'),
    treeshake: false,
    makeAbsoluteExternalsRelative: false,
    transform: { target: 'chrome83' },
    logLevel: 'silent',
  });
  await bundle.write({ file, format: 'es', codeSplitting: false });
}

/** What layers order is written in that order already; `where()` as `is()` costs only specificity. */
function lowerStyles(text: string): string {
  const styles = postcss.parse(text.replaceAll(':where(', ':is('));
  const initial: string[] = [];
  styles.walkAtRules('property', (rule) => {
    rule.walkDecls('initial-value', ({ value }) => void initial.push(`${rule.params}:${value}`));
  });
  styles.walkAtRules('layer', (rule) => void (rule.nodes ? rule.replaceWith(rule.nodes) : rule.remove()));
  // Properties of their own since Chromium 104.
  styles.walkDecls('translate', (rule) => {
    rule.prop = 'transform';
    rule.value = `translate(${rule.value.trim().replace(/\s+(?![^(]*\))/g, ',')})`;
  });
  // Both sides at once: since Chromium 87, and a value with a variable in it is not lowered by itself.
  styles.walkDecls(/^(padding|margin|inset)-(inline|block)$/, (rule) => {
    const [, property = '', axis = ''] = /^(\w+)-(\w+)$/.exec(rule.prop) ?? [];
    const [first = '', second = first] = rule.value.split(/\s+(?![^(]*\))/);
    const sides = axis === 'inline' ? ['left', 'right'] : ['top', 'bottom'];
    for (const [side, value] of [
      [sides[0], first],
      [sides[1], second],
    ])
      rule.cloneBefore({ prop: property === 'inset' ? `${side}` : `${property}-${side}`, value: `${value}` });
    rule.remove();
  });
  const code = Buffer.from(`*,::before,::after{${initial.join(';')}}${styles.toString()}`);
  const lowered = transform({ filename: 'page.css', code, targets: { chrome: 83 << 16 }, errorRecovery: true });
  return new TextDecoder().decode(lowered.code);
}

/** What the page asks of the DOM, and core-js does not bring because it is no part of the language. */
const DOM = `
if (!crypto.randomUUID) crypto.randomUUID = () => '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) =>
  (digit ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (digit / 4)))).toString(16));
if (!Element.prototype.replaceChildren) Element.prototype.replaceChildren = function (...nodes) {
  while (this.lastChild) this.removeChild(this.lastChild);
  this.append(...nodes);
};
if (!Element.prototype.checkVisibility) Element.prototype.checkVisibility = function () {
  return this.getClientRects().length > 0;
};
`;
