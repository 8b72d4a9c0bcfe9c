import { DownloadError } from '../network/download-error.ts';

const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
// Control characters, what Windows and macOS refuse, and the marks that turn text around: a name must read as it is.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f<>:"|?*\\\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

/** Checks a path that a repository gave, so that it can only name a file below the folder of its model.
 *  @throws DownloadError `bad-name` for absolute paths, `..`, reserved names, control and direction characters. */
export function safePath(path: string): string {
  const parts = path.split('/');
  const bad = parts.find(
    (part) =>
      part === '' ||
      part === '.' ||
      part === '..' ||
      part.length > 200 ||
      part.endsWith('.') ||
      part.endsWith(' ') ||
      RESERVED.test(part) ||
      FORBIDDEN.test(part),
  );
  if (bad !== undefined || path.length > 500) {
    throw new DownloadError(
      'bad-name',
      `[download] the repository names a file ${JSON.stringify(path)}; expected a plain relative name`,
    );
  }
  return path;
}
