import type { TFunction } from 'i18next';
import type { Location } from '../../app/protocol/index.ts';

/** A location in a document, abbreviated: "p. 14", "slide 3", "line 20", "¶ 7", "B4:D9". */
export const aboutLocation = (location: Location | null, t: TFunction): string =>
  location === null ? '' : location.kind === 'cells' ? location.range : t(`location.${location.kind}`, { ...location });

/** The name of a document and a location in it: "report.pdf, p. 3". */
export const whereOf = (name: string, location: Location | null, t: TFunction): string =>
  location === null ? name : t('location.in', { name, location: aboutLocation(location, t) });
