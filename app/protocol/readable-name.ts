/** Control characters, marks that hide or reverse text, line separators, unpaired surrogates. */
const DECEPTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Whether a name that somebody else gave reads as it is: it is shown in lists, and where consent is asked for. */
export const isReadableName = (name: string): boolean => name.trim() !== '' && !DECEPTIVE.test(name);

/** As DECEPTIVE, without the two joiners: emoji and Persian words are written with them. */
const DECEPTIVE_IN_TEXT = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A name that somebody else gave, as it reads: "invoice\u202efdp.exe" would be shown as "invoiceexe.pdf". */
export const asReadableName = (name: string): string => name.replace(DECEPTIVE_IN_TEXT, '').trim();

/** A text that somebody else wrote, as it reads: without marks that reverse or hide parts of it. Lines and tabs stay. */
export const asReadableText = (text: string): string =>
  text.replace(/\r\n?/g, '\n').replace(DECEPTIVE_IN_TEXT, (mark) => (mark === '\n' || mark === '\t' ? mark : ''));

/** A sentence with the marks in it written out: the path "invoice\u202efdp.exe" stays recognisable, but reverses
 *  nothing behind it. Lines and tabs stay. */
export const withMarksVisible = (sentence: string): string =>
  sentence.replace(DECEPTIVE_IN_TEXT, (mark) =>
    mark === '\n' || mark === '\t' ? mark : `\\u{${mark.codePointAt(0)?.toString(16)}}`,
  );
