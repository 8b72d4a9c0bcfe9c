import { pathToFileURL } from 'node:url';
import { getDocument, type PDFDocumentProxy, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { LonghandError } from '../../protocol/errors.ts';
import type { Assets } from '../assets.ts';
import type { Source } from '../piece.ts';

/** Of one picture. */
const MOST_PIXELS = 100e6;

/** @throws LonghandError `permission` with the remedy 'unlock', `unreadable` */
export async function openPdf(
  source: Source,
  assets: Assets,
  { pictures = false }: { pictures?: boolean } = {},
): Promise<PDFDocumentProxy> {
  const task = getDocument({
    url: pathToFileURL(source.path).href,
    ...(source.password !== null && { password: source.password }),
    disableAutoFetch: true,
    disableStream: true,
    // Pictures are not unpacked where only text is wanted.
    maxImageSize: pictures ? MOST_PIXELS : 1,
    fontExtraProperties: true,
    useSystemFonts: false,
    isEvalSupported: false,
    verbosity: VerbosityLevel.ERRORS,
    cMapUrl: assets.cMaps,
    standardFontDataUrl: assets.standardFonts,
    wasmUrl: assets.pdfWasm,
  } as Parameters<typeof getDocument>[0]);
  try {
    return await task.promise;
  } catch (error) {
    await task.destroy();
    throw openError(error, source);
  }
}

function openError(error: unknown, { fileName, password }: Source): LonghandError {
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  if (name === 'PasswordException') {
    return new LonghandError(
      'permission',
      password === null
        ? `[documents] ${fileName} is locked with a password`
        : `[documents] the password does not open ${fileName}`,
      { details: { remedy: 'unlock', wrong: password !== null } },
    );
  }
  return new LonghandError('unreadable', `[documents] ${fileName} is damaged or no PDF: ${message}`);
}
