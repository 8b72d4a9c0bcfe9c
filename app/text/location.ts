import type { Location } from '../protocol/index.ts';

//  Locations in documents as text for models and terminals. The page has its own strings
//  (renderer/lib/location.ts).

export const locationText = (location: Location | null): string => {
  switch (location?.kind) {
    case 'page':
      return `p. ${location.page}`;
    case 'slide':
      return `slide ${location.slide}`;
    case 'line':
      return `line ${location.line}`;
    case 'block':
      return `¶ ${location.block}`;
    case 'cells':
      return location.range;
    default:
      return '';
  }
};

/** The name of a document and where in it: "report.pdf, p. 3". */
export const whereOf = ({ name, location }: { name: string; location: Location | null }): string =>
  [name, locationText(location)].filter((part) => part !== '').join(', ');
