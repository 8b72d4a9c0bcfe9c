/** The name of a chat until it has a title. */
export const firstLine = (text: string): string => {
  const line = text.trim().split('\n', 1)[0]?.trim() ?? '';
  const letters = [...graphemes.segment(line.slice(0, 1000))].map(({ segment }) => segment);
  return letters.length > 60 ? `${letters.slice(0, 57).join('').trimEnd()}…` : letters.join('');
};

/** User-perceived characters: a family emoji is one. */
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
