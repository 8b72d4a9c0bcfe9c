/** Two constructs of Jinja that the library does not know, written in those it knows. */
export function withoutUnknownSyntax(template: string): string {
  return template.replace(RAW, rawBlock).replace(KEEP_AFTER, '$1%}{{""}}\n').replace(KEEP_BEFORE, '$1{{""}}{%');
}

const RAW = /\{%([-+]?)\s*raw\s*([-+]?)%\}([\s\S]*?)\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;
/** `+%}` keeps the newline after a tag, `{%+` the blanks before it. An empty output between does the same. */
const KEEP_AFTER = /(\{%[^%]*?)\+%\}\n/g;
const KEEP_BEFORE = /^([ \t]*)\{%\+/gm;

function rawBlock(_: string, before: string, open: string, body: string, close: string, after: string): string {
  let text = open === '-' ? body.trimStart() : body.replace(/^\n/, '');
  text = close === '-' ? text.trimEnd() : text.replace(/\n[ \t]*$/, '\n');
  return `{%${before} if true %}{{ "${escaped(text)}" }}{% endif ${after}%}`;
}

/** A string literal without anything that could be read as syntax. */
function escaped(text: string): string {
  return text.replace(/[\\"{}%\n\r\t#]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
