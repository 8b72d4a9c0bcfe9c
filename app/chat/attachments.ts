import { type Attachment, asReadableName, type ChatId, failureOf, LonghandError } from '../protocol/index.ts';
import { addAttachment } from '../store/chats/attachments.ts';
import { getChat } from '../store/chats/chats.ts';
import { piecesOfRegular, readRegular } from '../store/folder/open-regular.ts';
import { countingOf } from './context/context-usage.ts';
import type { ChatDeps } from './deps.ts';
import { isPicture } from './pictures.ts';

const maxBytes = 16 * 1024 * 1024;

/** Stores a picture, or the text of a file, with the chat.
 *  @throws LonghandError `not-found`, `too-large`, `unreadable` (neither a picture nor a text), `permission` */
export async function attachFile(
  core: ChatDeps,
  given: { chatId: ChatId; path: string; name: string },
): Promise<Attachment> {
  const file = { ...given, name: asReadableName(given.name) || 'file' };
  getChat(core.db, file.chatId);
  if (isPicture(await headOf(file.path))) return attachPicture(core, file);
  const bytes = await readRegular(file.path, maxBytes);
  const text = decodeText(bytes, file.name);
  const tokens = await countedBy(core, file.chatId, text).catch(() => null);
  return addAttachment(core.db, file.chatId, { name: file.name, bytes: bytes.length, tokens, text }, core.now());
}

async function headOf(path: string): Promise<Uint8Array> {
  for await (const piece of piecesOfRegular(path, { end: 16 })) return piece;
  return new Uint8Array();
}

async function attachPicture(
  core: ChatDeps,
  { chatId, path, name }: { chatId: ChatId; path: string; name: string },
): Promise<Attachment> {
  const { bytes, ...picture } = await core.pictures.add(path, name).catch((error) => {
    const { code, message, details } = failureOf(error);
    throw new LonghandError(code, message, { details: { ...details, picture: true } });
  });
  const tokens = await pictureTokens(core, chatId, picture);
  return addAttachment(core.db, chatId, { name, bytes, tokens, text: '', picture }, core.now());
}

/** Tokens a picture takes for the chat's model; null if the model has no vision or cannot be asked. */
export async function pictureTokens(
  core: ChatDeps,
  chatId: ChatId,
  { width, height }: { width: number; height: number },
): Promise<number | null> {
  try {
    const { target: model } = countingOf(core, chatId);
    const picture = { width, height, detail: core.settings().pictureDetail };
    return await core.engine.ask('countPicture', { model, picture });
  } catch {
    return null;
  }
}

/** Counted with the tokenizer of the chat's model, which need not be loaded. */
const countedBy = async (core: ChatDeps, chatId: ChatId, text: string) =>
  core.engine.ask('countText', { model: countingOf(core, chatId).target, text });

/** UTF-8, or UTF-16 with a mark. Bytes that never occur in text mean a picture, a program or an archive. */
export function decodeText(bytes: Buffer, name: string): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  const unreadable = () => new LonghandError('unreadable', `[attachment] ${name} is not text in UTF-8 or UTF-16`);
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw unreadable();
  }
  // A PDF may consist of printable characters only, but its text is encoded inside.
  if (text.includes('\0') || text.startsWith('%PDF-')) throw unreadable();
  return text.replaceAll('\r\n', '\n');
}
