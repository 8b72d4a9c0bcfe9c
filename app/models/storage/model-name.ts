import { basename, isAbsolute } from 'node:path';

//  What a model is called: its files say so, or their names do.

// Control characters, and marks that turn or hide text: a name must read as it is.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNREADABLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const MAX_NAME = 200;

/** What the files of somebody say they are called, as a line of text. */
export const plainName = (name: string): string => name.replace(UNREADABLE, '').trim().slice(0, MAX_NAME);

/** What a configuration says its model is called. */
export function declaredName(text: string | null): string | null {
  try {
    const config: unknown = JSON.parse(text ?? '');
    const name = typeof config === 'object' && config !== null && '_name_or_path' in config ? config._name_or_path : '';
    return typeof name === 'string' && name !== '' && !isAbsolute(name) ? basename(name) : null;
  } catch {
    return null;
  }
}

/** The name of a file without its ending. */
export const stemOf = (path: string): string => basename(path).replace(/\.gguf$/i, '');

/** Whether a GGUF file says what it is called: some hold a path or a word that names nothing. */
export const isName = (declared: string | null): declared is string =>
  declared !== null && /\p{L}{2}/u.test(declared) && !/[\\/]/.test(declared) && !EMPTY_NAME.test(declared.trim());
const EMPTY_NAME = /^(unnamed|unknown|model|untitled|tmp|temp|hf|gguf|llama)$/i;

/** Two forms of one model say the same name; the label of the file tells them apart, where it is one and not the whole name. */
export const withLabel = (name: string, label: string): string =>
  !QUANTISATION.test(label) || name.toLowerCase().includes(label.toLowerCase()) ? name : `${name} ${label}`;
const QUANTISATION = /^(I?Q\d\w*|TQ\d\w*|B?F(16|32)|MXFP4\w*|NVFP4)$/i;
