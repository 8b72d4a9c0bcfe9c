//  Display titles. The title in the metadata of many files is meaningless because a program set it.

const LONGEST = 300;

/** Generic titles, in lower case, without brackets and numbers. */
const GENERIC = new Set(
  `anonymous|untitled|untitled document|untitled presentation|untitled spreadsheet|unnamed|unnamed document|no title|none|null
  |undefined|unknown|title|document title|doc|document|new document|microsoft word document|word document|powerpoint presentation|presentation
  |presentation title|slide|slide title|folie|workbook|book|sheet|table|page|cover|index|default|template|blank|empty|draft|print|print job
  |printout|printing|scan|scanned|scanned document|scanned image|scanned from a xerox multifunction printer|scanned by camscanner|image|picture
  |photo|file|pdf|pdf document|about:blank|home|readme|output|main|paper|article|report|manuscript|unbenannt|ohne titel|unbekannt|dokument
  |präsentation|powerpoint-präsentation|sans titre|sans nom|présentation powerpoint|sin título|documento|presentación de powerpoint|senza titolo`
    .split('|')
    .map((title) => title.trim().replace(/\s+/g, ' ')),
);

/** Names of programs in titles. */
const PRODUCERS =
  /^(?:microsoft(?: office)?[®™]? ?(?:word|excel|powerpoint|publisher|visio|onenote|outlook|office)|adobe |acrobat|indesign|illustrator|photoshop|quarkxpress|coreldraw|(?:gpl |afpl )?ghostscript|gnu |cairo |quartz |skia\/|chromium|mozilla|pscript|pdf ?creator|pdftex|pdflatex|latex|xetex|luatex|tex output|itext|reportlab|wkhtmltopdf|prince|apache fop|fop |jasperreports|crystal reports|libreoffice|openoffice|writer$|impress$|calc$|google docs|canva|hp (?:digital|scan)|epson|canon|ricoh|xerox|konica|kyocera|camscanner|powered by)/i;

/** A title that is a file name, usually of the source document. */
const FILE_NAME =
  /^(?:file:|https?:|[a-z]:\\|\/\S|\S+[\\/])|\.(?:docx?|dotx?|rtf|odt|txt|tex|dvi|ps|pdf|qxd|qxp|indd|ai|psd|pptx?|odp|xlsx?|ods|html?|xml|md|pages|wpd|fm|pub|tmp|jpe?g|png|tiff?)$/i;

/** A number or code from a database or a scanner. */
const CODE = /^(?:[\p{N}\p{P}\p{S}\s]+|[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/iu;

/** The title in the metadata, or the file name if that title is empty or meaningless. */
export function titleOr(fileName: string, title: string | null): string {
  const said = (title ?? '').replace(/\p{C}/gu, ' ').replace(/\s+/g, ' ').trim();
  return isTelling(said) ? said.slice(0, LONGEST) : fileName;
}

/** Whether a title is meaningful. */
export function isTelling(title: string): boolean {
  if ((title.match(/\p{L}/gu) ?? []).length < 2) return false;
  const bare = title
    .toLowerCase()
    .replace(/^[([{<"'“]+|[)\]}>"'”]+$/g, '')
    .replace(/[\s_-]*\(?\d*\)?$/, '')
    .trim();
  return !(bare === '' || GENERIC.has(bare) || PRODUCERS.test(title) || FILE_NAME.test(title) || CODE.test(title));
}
