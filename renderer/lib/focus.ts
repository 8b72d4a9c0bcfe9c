//  Focus targets of commands.

export const COMPOSER = 'composer';
export const ADD_FILES = 'add-documents';
export const SEARCH_FIELD = 'documents-search';

/** Runs after the pending render. */
export function focusComposer(): void {
  requestAnimationFrame(() => document.getElementById(COMPOSER)?.focus());
}
