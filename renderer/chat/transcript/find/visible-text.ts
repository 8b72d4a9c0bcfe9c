import type { Message } from '../../../../app/protocol/index.ts';
import { type Block, splitBlocks } from '../../../ui/markdown/blocks.ts';
import { fencesOf } from '../../../ui/markdown/fences.ts';

//  The text of a message as shown on screen: a search is for what is seen, not for Markdown syntax.

const known = new WeakMap<Message, string>();

/** Cached per message object: every commit of a running answer replaces one message and keeps the others. */
export function visibleText(message: Message): string {
  const text = known.get(message) ?? (message.role === 'user' ? typed(message.text) : drawn(message.text));
  known.set(message, text);
  return text;
}

const typed = (text: string): string =>
  fencesOf(text)
    .map((part) => part.text)
    .join('\n');

const drawn = (markdown: string): string => splitBlocks(markdown).map(textOf).join('\n');

function textOf(block: Block): string {
  switch (block.kind) {
    case 'leaf':
      return plain(block.source);
    case 'code':
      return block.text;
    case 'raw':
      return block.source;
    case 'quote':
      return drawn(block.source);
    case 'list':
      return block.items.map((item) => drawn(item.replace(/^\[[ xX]\]\s+/, ''))).join('\n');
    case 'table':
      return [block.header, ...block.rows].flatMap((cells) => cells.map(plain)).join('\n');
    case 'math':
    case 'open-math':
    case 'rule':
      return '';
  }
}

/** A formula, a code span, a link or picture, an address in brackets, a sign with a backslash before it, and emphasis. */
const MARKS =
  /\$\$[^$]*\$\$|\\\(.*?\\\)|\\\[.*?\\\]|(`+)(.+?)\1(?!`)|!?\[([^[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)|<((?:https?|mailto):[^\s<>]+)>|\\([!-/:-@[-`{-~])|\*+|~~|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu;

function plain(source: string): string {
  return source
    .replace(/^ {0,3}#{1,6}\s+|\s+#+\s*$/g, '')
    .replace(/\n {0,3}(?:=+|-+)\s*$/, '')
    .replace(MARKS, (_, __, code, link, address, sign) => code ?? link ?? address ?? sign ?? '');
}
