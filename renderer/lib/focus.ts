//  What commands bring the focus to.

export const COMPOSER = 'composer';
export const ADD_FILES = 'add-documents';
export const SEARCH_FIELD = 'documents-search';

/** After the page has drawn what it is about to draw. */
export function focusComposer(): void {
  requestAnimationFrame(() => document.getElementById(COMPOSER)?.focus());
}
