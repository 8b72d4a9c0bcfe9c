import { COMPOSER } from './focus.ts';

const ATTACHED = 'files-attached';

/** Passes files that were dropped or created elsewhere in the window to the composer. */
export function attachFiles(files: (File | string)[]): void {
  document.getElementById(COMPOSER)?.dispatchEvent(new CustomEvent(ATTACHED, { detail: files }));
}

export function onAttached(composer: HTMLElement, take: (files: (File | string)[]) => void): () => void {
  const listener = (event: Event) => take((event as CustomEvent<(File | string)[]>).detail);
  composer.addEventListener(ATTACHED, listener);
  return () => composer.removeEventListener(ATTACHED, listener);
}
