import { DownloadError } from '../network/download-error.ts';

const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
// Control characters, characters forbidden on Windows and macOS, and marks that reverse text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f<>:"|?*\\\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

/** Validates a path from a repository, so that it can only name a file inside the model's folder.
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
