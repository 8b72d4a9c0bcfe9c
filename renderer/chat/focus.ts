export const COMPOSER = 'composer';

/** After the page has drawn what it is about to draw. */
export function focusComposer(): void {
  requestAnimationFrame(() => document.getElementById(COMPOSER)?.focus());
}
