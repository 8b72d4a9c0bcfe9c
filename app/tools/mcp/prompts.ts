import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  asReadableName,
  asReadableText,
  isReadableName,
  type McpPrompt,
  type McpPromptMessage,
} from '../../protocol/index.ts';
import { type Content, partText } from './result.ts';

//  Prompts of a server: texts with blanks, which a user chooses and fills in. They go into the message field, never to a model unseen.

const MAX_PAGES = 10;
const MAX_PROMPTS = 100;
const MAX_ARGUMENTS = 20;
const MAX_NAME = 200;
const MAX_ABOUT = 1000;
/** Characters of a filled-in prompt. The rest is cut off. */
const MAX_TEXT = 200_000;
const MAX_MESSAGES = 200;
/** Read for each character kept: the others may be spaces and hidden marks. */
const READ = 4;

/** None if the server has no prompts. Those with an unreadable name are left out, with a line in the log. @throws what the client throws */
export async function listPrompts(client: Client, timeout: number, note: (line: string) => void): Promise<McpPrompt[]> {
  const able = client.getServerCapabilities();
  if (!able?.prompts) return [];
  const found: McpPrompt[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && found.length < MAX_PROMPTS; page++) {
    const { prompts, nextCursor } = await client.listPrompts(cursor === undefined ? {} : { cursor }, { timeout });
    for (const { name, title, description, arguments: blanks = [] } of prompts) {
      const names = [name, ...blanks.map((blank) => blank.name)];
      if (found.some((other) => other.name === name) || new Set(names.slice(1)).size < blanks.length)
        note(
          `[Longhand] a prompt was left out for a name that occurs twice: ${JSON.stringify(names).slice(0, MAX_NAME)}`,
        );
      else if (blanks.length > MAX_ARGUMENTS || names.some((one) => one.length > MAX_NAME || !isReadableName(one)))
        note(`[Longhand] a prompt was left out for its names: ${JSON.stringify(names).slice(0, MAX_NAME)}`);
      else
        found.push({
          name,
          title: oneLine(title, MAX_NAME) || name,
          description: oneLine(description, MAX_ABOUT),
          arguments: blanks.map((blank) => ({
            name: blank.name,
            description: oneLine(blank.description, MAX_ABOUT),
            required: blank.required === true,
          })),
          suggests: able.completions !== undefined,
        });
    }
    cursor = nextCursor;
    if (cursor === undefined) break;
  }
  return found.slice(0, MAX_PROMPTS);
}

/** Only text: pictures, sounds and files are named in brackets. @throws what the client throws */
export async function fillPrompt(
  client: Client,
  name: string,
  given: Readonly<Record<string, string>>,
  timeout: number,
): Promise<McpPromptMessage[]> {
  const { messages } = await client.getPrompt({ name, arguments: { ...given } }, { timeout, maxTotalTimeout: timeout });
  let room = MAX_TEXT;
  return messages.slice(0, MAX_MESSAGES).flatMap(({ role, content }) => {
    const text = asReadableText(partText(content as Content, null).slice(0, READ * room))
      .slice(0, room)
      .toWellFormed()
      .trim();
    room -= text.length;
    return text === '' ? [] : [{ role, text }];
  });
}

const oneLine = (text: string | undefined, most: number): string =>
  asReadableName((text ?? '').slice(0, READ * most).replace(/\s+/g, ' '))
    .slice(0, most)
    .toWellFormed();
