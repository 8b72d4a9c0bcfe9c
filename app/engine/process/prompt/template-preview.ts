import type * as Addon from '../../../../native/addon/index.d.ts';
import { LonghandError } from '../../../protocol/index.ts';
import { type ChatMessage, promptOf } from '../../../text/chat-template.ts';
import type { TemplateRenderer } from '../../../text/jinja/template-renderer.ts';
import { withTemplate } from '../../../text/model-text.ts';
import type { Preview } from '../../ipc-protocol.ts';
import { readModelText } from '../model/tokenizer-files.ts';

/** A sample conversation that covers everything a template may encounter. */
const conversation: readonly ChatMessage[] = [
  { role: 'system', content: 'You are brief.' },
  { role: 'user', content: 'Which river flows through Vienna?' },
  { role: 'assistant', content: 'The Danube.' },
  { role: 'user', content: 'And through Basel?' },
];

/** Renders a short conversation with the model's own template or another one.
 *  @throws LonghandError `template-failed`, saying where */
export async function previewTemplate(
  addon: Pick<typeof Addon, 'ggufMetadata'>,
  renderer: TemplateRenderer,
  { path, template }: { path: string; template: string | null },
): Promise<Preview> {
  const own = await readModelText(addon, path);
  const text = withTemplate(own, template);
  if (text.template === null) {
    throw new LonghandError('template-failed', '[template] this model has none, so it cannot hold a conversation');
  }
  const { segments } = await promptOf({ ...text, template: text.template }, renderer, { messages: conversation });
  const words = segments.map((segment) => ('ids' in segment ? text.decode(segment.ids) : segment.text));
  return { own: own.template, text: words.join('') };
}
