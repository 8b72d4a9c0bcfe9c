import { COMPOSER } from '../../lib/focus.ts';

const DROPPED = 'files-dropped';

/** Hands files that were dropped elsewhere on the window to the composer. */
export function attachDropped(files: File[]): void {
  document.getElementById(COMPOSER)?.dispatchEvent(new CustomEvent(DROPPED, { detail: files }));
}

export function onDropped(composer: HTMLElement, take: (files: File[]) => void): () => void {
  const listener = (event: Event) => take((event as CustomEvent<File[]>).detail);
  composer.addEventListener(DROPPED, listener);
  return () => composer.removeEventListener(DROPPED, listener);
}
