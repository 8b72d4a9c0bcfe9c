import { z } from 'zod';

/** The origin of web pages as browsers send it, from an address that somebody typed; null if it is none, or of more than one page. */
export function originOf(address: string): string | null {
  const url = URL.parse(address.trim());
  if (!url || url.host === '' || url.host.includes('*')) return null;
  const more = [url.username, url.password, url.pathname.replace(/^\/$/, ''), url.search, url.hash];
  return more.every((part) => part === '') ? `${url.protocol}//${url.host}`.toLowerCase() : null;
}

export const PageOrigin = z
  .string()
  .max(300)
  .refine((text) => originOf(text) === text, 'has to be the origin of a page, as https://chat.example');
