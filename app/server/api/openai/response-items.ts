import { randomUUID } from 'node:crypto';
import type { OutputItem } from './response-writer.ts';
import type { Item } from './responses-body.ts';

//  Conversation items as stored, each with an id, and as listed.

export type KeptItem = Item & { id: string };

const PREFIX = { message: 'msg', function_call: 'fc', function_call_output: 'fco', reasoning: 'rs' };

/** Adds an id if there is none. */
export const kept = (item: Item): KeptItem => ({
  ...item,
  id: item.id ?? `${PREFIX[item.type]}_${randomUUID().replace(/-/g, '')}`,
});

/** An output item in the form of an input item of the next request. */
export function asInput(item: OutputItem): KeptItem {
  if (item.type === 'function_call') return item as unknown as KeptItem;
  const { id } = item;
  const text = (item.content as { text: string }[]).map((part) => part.text).join('');
  return item.type === 'message'
    ? { id, type: 'message', role: 'assistant', content: { text, pictures: [] } }
    : { id, type: 'reasoning', content: [{ text }] };
}

const KINDS: Record<number, string> = { 137: 'png', 255: 'jpeg', 71: 'gif', 82: 'webp' };

const pictureObject = (bytes: Uint8Array) => ({
  type: 'input_image',
  detail: 'auto',
  image_url: `data:image/${KINDS[bytes[0] ?? 0] ?? 'unknown'};base64,${Buffer.from(bytes).toString('base64')}`,
});

export function listed(item: KeptItem): object {
  const { id, type } = item;
  if (type === 'function_call_output') {
    return { id, type, call_id: item.call_id, output: item.output.text, status: 'completed' };
  }
  if (type !== 'message') return type === 'reasoning' ? { ...item, summary: item.summary ?? [] } : item;
  const { text, pictures } = item.content;
  const said =
    item.role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text };
  return {
    id,
    type,
    role: item.role,
    status: 'completed',
    content: [...(text === '' && pictures.length > 0 ? [] : [said]), ...pictures.map(pictureObject)],
  };
}
