//  A throw in a timer or in an event of a stream, a process or a port has no caller: it would end the core, and with it the app. So
//  what is called there goes through `guarded` (app/protocol/background.ts), or cannot throw by its form.

export type Unguarded = { line: number; code: string };

/** Where somebody calls back later. Those of `node:timers/promises` take no function. */
const CALLS =
  /(?<![.\w])(?:setTimeout|setInterval|setImmediate|queueMicrotask)\(|(?<!options)\.(?:on|once|addListener|addEventListener|onMessage|onClose)\(/g;

/** Settling a promise, doing nothing, noting something in a variable, or stopping what listens to a signal cannot throw. */
const HARMLESS =
  /^(?:resolve|reject|\(\) => \{\}|\([^()]*\) =>\s*(?:resolve|reject)\(|\(\) => \w+\.(?:add|delete)\(\w+\)|\(\) => \{\s*\w+ = (?:true|false|null|'');?\s*\}$)/;

/** A promise that nobody waits for, and what comes of it: where that may throw, somebody has to catch it. */
const FORGOTTEN = /\bvoid\s+(?=[\w(])[^;]*?\.then\(/g;

function forgottenIn(code: string): Unguarded[] {
  return [...code.matchAll(FORGOTTEN)].flatMap((found) => {
    const start = found.index + found[0].length;
    const given = argumentsFrom(code, start);
    const end = /;|\n\s*\n/.exec(code.slice(start))?.index ?? 0;
    if (given.length > 1 || code.slice(start, start + end).includes('.catch(')) return [];
    const [callback = ''] = given;
    if (isGuarded(callback, code)) return [];
    return [{ line: code.slice(0, found.index).split('\n').length, code: found[0].replace(/\s+/g, ' ') }];
  });
}

export function unguardedIn(text: string): Unguarded[] {
  const code = withoutComments(text);
  const promised = /import \{[^}]*\bset(?:Timeout|Immediate)\b[^}]*\} from 'node:timers\/promises'/.test(code);
  const called = [...code.matchAll(CALLS)].flatMap((call) => {
    if (promised && /^set(?:Timeout|Immediate)/.test(call[0])) return [];
    const start = call.index + call[0].length;
    const given = argumentsFrom(code, start);
    const callback = call[0].startsWith('.') && given.length > 1 ? given[1] : given[0];
    if (callback === undefined || !isFunction(callback) || isGuarded(callback, code)) return [];
    const line = code.slice(0, call.index).split('\n').length;
    return [{ line, code: `${call[0]}${given.join(', ').replace(/\s+/g, ' ').slice(0, 80)}` }];
  });
  return [...called, ...forgottenIn(code)];
}

const withoutComments = (text: string) =>
  text.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '').replace(/(^|\s)\/\/ .*$/gm, (_, space: string) => space);

/** A number, a text or an object is no callback: it is a call of something else. */
const isFunction = (given: string) => /=>|^[A-Za-z_][\w.]*$|^guarded\(/.test(given) && !/^(?:\d|['"`])/.test(given);

function isGuarded(callback: string, code: string): boolean {
  if (/^(?:options\.|this\.)?guarded\(/.test(callback) || HARMLESS.test(callback)) return true;
  if (!/^\w+$/.test(callback)) return false;
  const name = callback;
  // Given a name first, or what settles the promise that is awaited there.
  return (
    new RegExp(`\\b(?:const|let) ${name}(?:: [^=]+)? = guarded\\(`).test(code) ||
    new RegExp(`new Promise(?:<[^>]*>)?\\(\\(?(?:\\w+, )?${name}\\b`).test(code)
  );
}

/** The arguments of a call, from behind its bracket on. */
function argumentsFrom(code: string, start: number): string[] {
  const given: string[] = [];
  let depth = 0;
  let from = start;
  let quote = '';
  for (let at = start; at < code.length; at++) {
    const letter = code.charAt(at);
    if (quote !== '') {
      if (letter === '\\') at++;
      else if (letter === quote) quote = '';
      continue;
    }
    if (/['"`]/.test(letter)) quote = letter;
    else if (/[([{]/.test(letter)) depth++;
    else if (/[)\]}]/.test(letter) && depth-- === 0) {
      given.push(code.slice(from, at));
      break;
    } else if (letter === ',' && depth === 0) {
      given.push(code.slice(from, at));
      from = at + 1;
    }
  }
  return given.map((one) => one.trim()).filter((one) => one !== '');
}
