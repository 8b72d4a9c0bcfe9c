import type { Block } from '../../protocol/index.ts';
import { type Consent, type Tool, ToolError, textIn } from '../tool.ts';
import { chosenPart, PART_PARAMETER, partsOf } from './parts.ts';

/** A response. `redirect`: the page is at another address. */
export type Page = { bytes: Uint8Array; contentType: string } | { redirect: URL };

export type Pages = {
  /** Requests one page without following redirects. @throws ToolError, and network errors */
  open(url: URL, signal: AbortSignal): Promise<Page>;
  /** Its text. @throws LonghandError from the document parser */
  read(page: { bytes: Uint8Array; kind: 'html' | 'text' }, signal: AbortSignal): Promise<Block[]>;
  /** Whether the address is on this computer or the local network. */
  isPrivate(url: URL): boolean;
  consentFor(host: string): Consent;
};

const MAX_REDIRECTS = 5;
const MAX_ADDRESS = 2000;
/** Pages cached for requests of their next part. */
const KEPT = 4;

/** Fetches a web page if the user allows its site. A redirect to another site needs its own
 *  consent. */
export function fetchPage({ open, read, isPrivate, consentFor }: Pages): Tool {
  const kept = new Map<string, string[]>();

  async function partsAt(address: string, signal: AbortSignal): Promise<string[]> {
    let url = publicAddress(address);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const page = await open(url, signal);
      if (!('redirect' in page)) {
        const blocks = await read({ bytes: page.bytes, kind: kindOf(page.contentType) }, signal);
        return partsOf(blocks);
      }
      const { redirect } = page;
      const stays =
        redirect.host === url.host && (redirect.protocol === 'https:' || redirect.protocol === url.protocol);
      if (!stays) throw new ToolError('failed', `this page is now at ${redirect.href}; open that address instead`);
      url = redirect;
    }
    throw new ToolError('failed', `${url.host} redirects more than ${MAX_REDIRECTS} times`);
  }

  /** @throws ToolError */
  function publicAddress(address: string): URL {
    const url = urlOf(address);
    if (!url) throw new ToolError('arguments', '"url" must be an address like https://example.org/page');
    if (isPrivate(url)) throw new ToolError('failed', 'addresses of this computer and its network are not opened');
    return url;
  }

  return {
    name: 'fetch_page',
    builtIn: true,
    description:
      'Opens a page of the web by its address and returns its text, a part at a time. The user is asked to allow each new site.',
    parameters: {
      type: 'object',
      properties: { url: { type: 'string', description: 'The whole address, with https://' }, part: PART_PARAMETER },
      required: ['url'],
    },
    consent(given) {
      const url = typeof given.url === 'string' ? urlOf(given.url) : null;
      // No consent is asked for addresses that are never opened.
      return url && !isPrivate(url) ? consentFor(url.host) : null;
    },
    async run(given, { signal }) {
      const { href } = publicAddress(textIn(given, 'url'));
      const parts = (given.part === undefined ? null : kept.get(href)) ?? (await partsAt(href, signal));
      kept.delete(href);
      kept.set(href, parts);
      const [oldest] = kept.keys();
      if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
      return parts.length === 0 ? `${href} has no text.` : chosenPart(parts, given.part, href);
    },
  };
}

/** Null: not an address that can be opened. User name and password are never sent. */
function urlOf(address: string): URL | null {
  const url = URL.parse(address.trim().slice(0, MAX_ADDRESS));
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url;
}

function kindOf(contentType: string): 'html' | 'text' {
  const [type = ''] = contentType.toLowerCase().split(';');
  if (/^(?:text\/html|application\/xhtml\+xml)$/.test(type.trim())) return 'html';
  if (/^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml)$/.test(type.trim())) return 'text';
  throw new ToolError('failed', `this address has no page but a file (${type.trim() || 'of an unknown type'})`);
}
