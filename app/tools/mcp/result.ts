import type { ResultPicture, ToolResult } from '../tool.ts';

/** What a call gives, as the protocol has it. */
export type CallResult = {
  isError?: boolean;
  structuredContent?: unknown;
  content?: readonly Content[];
};

export type Content = {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  name?: string;
  uri?: string;
  resource?: { uri?: string; text?: string; blob?: string; mimeType?: string };
};

/** Pictures of one result that are kept. */
export const MAX_RESULT_PICTURES = 8;

/** Text for a model, and pictures for the user. Sounds and other files are named: nobody here opens them. */
export function resultOf({ content = [], structuredContent }: CallResult): ToolResult {
  const pictures: ResultPicture[] = [];
  const parts = content.map((part) => partText(part, pictures)).filter((part) => part !== '');
  if (parts.length === 0 && structuredContent !== undefined)
    return { text: JSON.stringify(structuredContent), pictures };
  return { text: parts.join('\n') || 'Done. There is no result.', pictures };
}

/** `pictures` takes the pictures; without it they are named like other files. */
export function partText(part: Content, pictures: ResultPicture[] | null): string {
  const { type, text, data, mimeType, name, uri, resource } = part;
  if (type === 'text') return text ?? '';
  if (type === 'resource_link') return `${name ?? ''} ${uri ?? ''}`.trim();
  if (type !== 'resource') return fileText({ kind: mimeType ?? type, base64: data }, pictures);
  if (resource?.text !== undefined) return resource.text;
  return fileText({ kind: resource?.mimeType, base64: resource?.blob, uri: resource?.uri }, pictures);
}

type File = { kind?: string | undefined; base64?: string | undefined; uri?: string | undefined };

function fileText({ kind = 'a file', base64 = '', uri }: File, pictures: ResultPicture[] | null): string {
  const about = `${kind}, ${Math.ceil((base64.length * 3) / 4 / 1024)} KB${uri ? `, ${uri}` : ''}`;
  const ending = /^image\/(png|jpeg|gif|webp|avif|tiff)$/.exec(kind)?.[1];
  if (!ending || base64 === '' || pictures === null || pictures.length === MAX_RESULT_PICTURES)
    return `[${about}: left out]`;
  const number = pictures.length + 1;
  pictures.push({ bytes: Buffer.from(base64, 'base64'), name: `picture-${number}.${ending}` });
  return `[picture ${number}, ${about}: the user sees it, you do not]`;
}
