/** What a call gives, as the protocol has it. */
export type CallResult = {
  isError?: boolean;
  structuredContent?: unknown;
  content?: readonly Content[];
};

type Content = {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  name?: string;
  uri?: string;
  resource?: { uri?: string; text?: string; blob?: string; mimeType?: string };
};

/** As text for a model. Pictures and sounds are named, for no model here sees them. */
export function resultText({ content = [], structuredContent }: CallResult): string {
  const parts = content.map(partText).filter((part) => part !== '');
  if (parts.length === 0 && structuredContent !== undefined) return JSON.stringify(structuredContent);
  return parts.join('\n') || 'Done. There is no result.';
}

function partText({ type, text, data, mimeType, name, uri, resource }: Content): string {
  if (type === 'text') return text ?? '';
  if (type === 'resource_link') return `${name ?? ''} ${uri ?? ''}`.trim();
  if (type === 'resource') return resource?.text ?? leftOut(resource?.mimeType, resource?.blob, resource?.uri);
  return leftOut(mimeType ?? type, data, undefined);
}

const leftOut = (kind = 'a file', base64 = '', uri = ''): string =>
  `[${kind}, ${Math.ceil((base64.length * 3) / 4 / 1024)} KB${uri === '' ? '' : `, ${uri}`}: left out, as models here read text alone]`;
