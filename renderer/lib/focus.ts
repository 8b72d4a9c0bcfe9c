//  Focus targets of commands.

export const COMPOSER = 'composer';
export const ADD_FILES = 'add-documents';
export const SEARCH_FIELD = 'documents-search';

const TAKES_KEYS = 'input, textarea, [contenteditable=true], [role=dialog], [role=alertdialog], [role=menu]';

/** Runs after the pending render, unless a field or a layer has been given the focus meanwhile: a key pressed in between may
 *  have opened one, which would close again and lose what is being typed. */
export function focusComposer(): void {
  const before = document.activeElement;
  requestAnimationFrame(() => {
    const now = document.activeElement;
    if (now !== before && now?.closest(TAKES_KEYS)) return;
    document.getElementById(COMPOSER)?.focus();
  });
}
