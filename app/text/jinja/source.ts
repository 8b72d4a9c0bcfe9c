/** Rewrites two Jinja constructs that the library does not support. */
export function withoutUnknownSyntax(template: string): string {
  return withoutRaw(template).replace(KEEP_AFTER, '$1%}{{""}}\n').replace(KEEP_BEFORE, '$1{{""}}{%');
}

const OPEN = /\{%([-+]?)\s*raw\s*([-+]?)%\}/g;
const CLOSE = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g;

/** Rewrites each raw block up to the next end; an unclosed one is left for the library to reject. */
function withoutRaw(template: string): string {
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const open = matchFrom(OPEN, template, from);
    const close = open && matchFrom(CLOSE, template, open.end);
    if (!open || !close) return parts.join('') + template.slice(from);
    const body = template.slice(open.end, close.at);
    parts.push(template.slice(from, open.at), rawBlock(open.before, open.after, body, close.before, close.after));
    from = close.end;
  }
}

function matchFrom(pattern: RegExp, text: string, from: number) {
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  if (!found) return null;
  const [whole, before = '', after = ''] = found;
  return { at: found.index, end: found.index + whole.length, before, after };
}

/** `+%}` keeps the newline after a tag, `{%+` the blanks before it. An empty output in between has the same effect. */
const KEEP_AFTER = /(\{%[^%]*?)\+%\}\n/g;
const KEEP_BEFORE = /^([ \t]*)\{%\+/gm;

function rawBlock(before: string, open: string, body: string, close: string, after: string): string {
  let text = open === '-' ? body.trimStart() : body.replace(/^\n/, '');
  text = close === '-' ? text.trimEnd() : text.replace(/\n[ \t]*$/, '\n');
  return `{%${before} if true %}{{ "${escaped(text)}" }}{% endif ${after}%}`;
}

/** A string literal without anything that could be parsed as syntax. */
function escaped(text: string): string {
  return text.replace(/[\\"{}%\n\r\t#]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
