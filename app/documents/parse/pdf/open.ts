import { pathToFileURL } from 'node:url';
import { getDocument, type PDFDocumentProxy, type PDFPageProxy, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { LonghandError } from '../../../protocol/errors.ts';
import type { Source } from '../../element.ts';
import type { Assets } from '../assets.ts';

/** Maximum pixels of a picture. */
const MAX_PIXELS = 100e6;

/** Maximum fetched bytes: the library keeps them, pictures included, as long as the file is open. */
const MAX_HELD = 96 * 1024 * 1024;

export type Pdf = {
  numPages: number;
  page(number: number): Promise<{ page: PDFPageProxy; pdf: PDFDocumentProxy }>;
  title(): Promise<unknown>;
  close(): Promise<void>;
};

/** Opens a PDF, and reopens it whenever much of it has been fetched. With `pictures`, images are decoded as well.
 *  @throws LonghandError `permission` with the remedy 'unlock', `unreadable` */
export async function openPdf(source: Source, assets: Assets, { pictures = false } = {}): Promise<Pdf> {
  let held = 0;
  const open = async () => {
    held = 0;
    const task = getDocument({
      url: pathToFileURL(source.path).href,
      ...(source.password !== null && { password: source.password }),
      disableAutoFetch: true,
      disableStream: true,
      rangeChunkSize: 256 * 1024,
      maxImageSize: pictures ? MAX_PIXELS : 1,
      fontExtraProperties: true,
      useSystemFonts: false,
      isEvalSupported: false,
      verbosity: VerbosityLevel.ERRORS,
      cMapUrl: assets.cMaps,
      standardFontDataUrl: assets.standardFonts,
      wasmUrl: assets.pdfWasm,
    } as Parameters<typeof getDocument>[0]);
    task.onProgress = ({ loaded }: { loaded: number }) => {
      held = loaded;
    };
    try {
      return await task.promise;
    } catch (error) {
      await task.destroy();
      throw openError(error, source);
    }
  };
  let pdf = await open();
  return {
    numPages: pdf.numPages,
    async page(number) {
      if (held > MAX_HELD) {
        await pdf.loadingTask.destroy();
        pdf = await open();
      }
      return { page: await pdf.getPage(number), pdf };
    },
    async title() {
      const metadata = await pdf.getMetadata().catch(() => null);
      return (metadata?.info as { Title?: unknown } | undefined)?.Title;
    },
    close: () => pdf.loadingTask.destroy(),
  };
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
  return new LonghandError('unreadable', `[documents] ${fileName} is damaged or not a PDF: ${message}`);
}
