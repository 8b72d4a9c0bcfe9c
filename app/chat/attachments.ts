import { type Attachment, type ChatId, LonghandError } from '../protocol/index.ts';
import { addAttachment } from '../store/attachments.ts';
import { getChat } from '../store/chats.ts';
import { readRegular } from '../store/open-regular.ts';
import { countingOf } from './context/context-usage.ts';
import type { ChatDeps } from './deps.ts';

const maxBytes = 16 * 1024 * 1024;

/** Reads a file as text and keeps the text with the chat.
 *  @throws LonghandError `not-found`, `too-large`, `unreadable` (not a text), `permission` */
export async function attachFile(
  core: ChatDeps,
  file: { chatId: ChatId; path: string; name: string },
): Promise<Attachment> {
  getChat(core.db, file.chatId);
  const bytes = await readRegular(file.path, maxBytes);
  const text = decodeText(bytes, file.name);
  const tokens = await countedBy(core, file.chatId, text).catch(() => null);
  return addAttachment(core.db, file.chatId, { name: file.name, bytes: bytes.length, tokens, text }, core.now());
}

/** By the model of the chat, which need not be in memory. */
const countedBy = async (core: ChatDeps, chatId: ChatId, text: string) =>
  core.engine.ask('countText', { model: countingOf(core, chatId).target, text });

/** UTF-8, or UTF-16 with a mark. Bytes that no text has mean a picture, a program, an archive. */
export function decodeText(bytes: Buffer, name: string): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  const unreadable = () => new LonghandError('unreadable', `[attachment] ${name} is not a text in UTF-8 or UTF-16`);
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw unreadable();
  }
  // A PDF may be written in nothing but letters; its words are inside.
  if (text.includes('\0') || text.startsWith('%PDF-')) throw unreadable();
  return text.replaceAll('\r\n', '\n');
}
