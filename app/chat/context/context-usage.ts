import type { CountedBy, LoadTarget } from '../../engine/ipc-protocol.ts';
import {
  type AttachmentId,
  type ChatId,
  LonghandError,
  type Message,
  type MessageId,
  type Request,
} from '../../protocol/index.ts';
import { type Attached, attachedWaiting } from '../../store/chats/attachments.ts';
import { getChat } from '../../store/chats/chats.ts';
import { messagesOf } from '../../store/chats/messages.ts';
import type { ChatDeps } from '../deps.ts';
import { plain, promptOf, withAttachments } from '../prompt/prompt.ts';
import { toolsFor } from '../prompt/tools-for.ts';
import { branch } from '../tree.ts';

export type Measure = { used: number; draft: number; limit: number };

/** The chat's own model and its context length, loaded or not, whichever model is in memory. */
export type Counting = { target: LoadTarget; name: string; limit: number };

/** @throws LonghandError `model-missing`, `model-unsupported`, `out-of-memory` if the model could not be loaded now */
export function countingOf(core: ChatDeps, chatId: ChatId): Counting {
  const { target, name } = core.models.target(getChat(core.db, chatId).modelId);
  const status = core.engine.status();
  const present = core.engine.target();
  const inMemory =
    'contextLength' in status &&
    status.modelId === target.modelId &&
    present?.modelId === target.modelId &&
    present.contextLength === target.contextLength;
  return { target, name, limit: inMemory ? status.contextLength : core.models.contextLengthOf(target.modelId) };
}
type Asked = {
  chatId: ChatId;
  draft: string;
  attachments: readonly AttachmentId[];
  parentId?: MessageId | undefined;
};

/** Tokens the next prompt would have. Reuses the engine's count of the last answer; without it, the whole
 *  chat is counted, which is slower.
 *  @throws LonghandError as `countingOf` */
export async function measureContext(core: ChatDeps, asked: Asked): Promise<Measure> {
  const { target: model, name, limit } = countingOf(core, asked.chatId);
  const path = pathOf(core, asked);
  const waiting = attachedWaiting(core.db, asked.attachments);
  const sees = core.models.sees(model.modelId);
  const text = withAttachments(asked.draft, waiting, sees);
  const words = text === '' ? 0 : await core.engine.ask('countText', { model, text });
  const draft = words + (sees ? await countPictures(core, model, waiting) : 0);
  return { used: lastCount(path, name) ?? (await countPath(core, asked.chatId, path, model)), draft, limit };
}

async function countPictures(core: ChatDeps, model: CountedBy, waiting: readonly Attached[]): Promise<number> {
  const detail = core.settings().pictureDetail;
  const pictures = waiting.flatMap(({ picture }) => (picture ? [{ ...picture, detail }] : []));
  const counts = pictures.map(({ width, height }) =>
    core.engine.ask('countPicture', { model, picture: { width, height, detail } }),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

export function pathOf(core: ChatDeps, { chatId, parentId }: Pick<Asked, 'chatId' | 'parentId'>): Message[] {
  const chat = getChat(core.db, chatId);
  return branch(messagesOf(core.db, chat.id), parentId ?? chat.leafId);
}

/** Refuses a message that cannot fit before anything is stored, so that the user can choose what to do. If it cannot be
 *  counted, it is let through: its turn will report why.
 *  @throws LonghandError `context-full`, and as `countingOf` */
export async function checkRoom(core: ChatDeps, sent: Request<'turns.send'>): Promise<void> {
  const { target, limit } = countingOf(core, sent.chatId);
  // For a remote engine, token counts are estimates: only what is certainly too long is refused here, the rest by the engine.
  if (limit === 0 || surelyFits(core, sent, limit)) return;
  const most = target.remote ? limit * GUESS : limit;
  const measure = await measureContext(core, { ...sent, draft: sent.text }).catch(() => null);
  if (!measure || measure.used + measure.draft < most) return;
  throw new LonghandError(
    'context-full',
    `[context] needs ${measure.used + measure.draft} tokens, has room for ${measure.limit}`,
    {
      details: measure,
    },
  );
}

/** By what factor an estimate may be off. */
const GUESS = 1.3;

/** Tokens that a template may add to a conversation and to each message. */
const FRAME = 256;
const FRAME_OF_MESSAGE = 16;
/** A call and its result are two messages of a prompt. */
const FRAMES = ' '.repeat(2 * FRAME_OF_MESSAGE);

/** Maximum tokens of a picture. */
const FRAME_OF_PICTURE = 4096;

/** No token is shorter than a byte, so a text that is short enough in bytes need not be counted: true of most messages. */
function surelyFits(core: ChatDeps, sent: Request<'turns.send'>, limit: number): boolean {
  const chat = getChat(core.db, sent.chatId);
  const path = pathOf(core, sent);
  const waiting = attachedWaiting(core.db, sent.attachments);
  const texts = [
    chat.systemPrompt || core.settings().systemPrompt,
    withAttachments(sent.text, waiting, false),
    ...path.flatMap(({ text, thinking, contextCutoff }) => [text, thinking, contextCutoff?.summary ?? '']),
    ...path.flatMap(({ toolUses }) => toolUses.flatMap((use) => [use.name, use.arguments, use.result ?? '', FRAMES])),
    JSON.stringify(core.tools.schemas(chat.tools ?? core.settings().tools)),
  ];
  const pictures = waiting.filter(({ picture }) => picture !== null).length * FRAME_OF_PICTURE;
  const attached = path
    .flatMap(({ attachments }) => attachments)
    .reduce((sum, { bytes, picture }) => sum + (picture ? FRAME_OF_PICTURE : 2 * bytes), pictures);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), attached);
  return bytes + FRAME + FRAME_OF_MESSAGE * path.length < limit;
}

/** Tokens of the last prompt and its answer, without thinking, which templates drop at the next question. Null if
 *  messages were excluded or included since, or if another model counted. */
function lastCount(path: readonly Message[], model: string): number | null {
  const last = path.at(-1);
  if (last?.modelName !== model) return null;
  if (!last.usage || last.state.status !== 'done' || last.usage.promptTokens === 0) return null;
  // Its calls and results were only partly counted.
  if (last.toolUses.length > 0) return null;
  if (path.some(({ contextCutoff }) => contextCutoff !== null && contextCutoff.since >= last.createdAt)) return null;
  return last.usage.promptTokens + last.usage.answerTokens;
}

export async function countPath(
  core: ChatDeps,
  chatId: ChatId,
  path: readonly Message[],
  model: CountedBy,
): Promise<number> {
  const chat = getChat(core.db, chatId);
  const tools = await toolsFor(core, chat, path, model);
  const prompt = promptOf(core, { chat, settings: core.settings(), thinking: false, tools }, path, null);
  // Templates require a question; an empty one costs only its frame, which the real one needs as well.
  if (path.at(-1)?.role !== 'user') prompt.messages.push(plain('user', ''));
  return core.engine.ask('count', { model, prompt });
}
