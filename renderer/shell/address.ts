import type { ChatId, DocumentId, MessageId } from '../../app/protocol/index.ts';
import { type Place, type SettingsSection, sections } from '../stores/shell.ts';

//  The current view as the fragment of the address: it survives a reload, and back and forward navigate through it.
//  The same in a browser and under Electron's own protocol.

export type View =
  | { kind: 'chat'; chatId: ChatId | null; source: { messageId: MessageId; number: number } | null }
  | { kind: 'documents'; documentId: DocumentId | null }
  | Exclude<Place, { kind: 'chat' } | { kind: 'documents' }>;

/** `#/chat/<id>?source=<message>.<number>`, `#/documents/<id>`, `#/settings/<section>`, `#/models`, `#/performance`, `#/server` */
export function addressOf(view: View): string {
  switch (view.kind) {
    case 'chat': {
      if (view.chatId === null) return '#/chat';
      const source = view.source ? `?source=${encodeURIComponent(view.source.messageId)}.${view.source.number}` : '';
      return `#/chat/${encodeURIComponent(view.chatId)}${source}`;
    }
    case 'documents':
      return view.documentId === null ? '#/documents' : `#/documents/${encodeURIComponent(view.documentId)}`;
    case 'settings':
      return `#/settings/${view.section}`;
    default:
      return `#/${view.kind}`;
  }
}

/** Null for an unknown address. */
export function viewOf(hash: string): View | null {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page, name = ''] = path.split('/').map(decoded);
  switch (page) {
    case 'chat':
      return name === ''
        ? { kind: 'chat', chatId: null, source: null }
        : { kind: 'chat', chatId: name as ChatId, source: sourceOf(query) };
    case 'documents':
      return { kind: 'documents', documentId: name === '' ? null : (name as DocumentId) };
    case 'settings':
      return { kind: 'settings', section: isSection(name) ? name : 'appearance' };
    case 'models':
    case 'performance':
    case 'server':
      return { kind: page };
    default:
      return null;
  }
}

function sourceOf(query: string): { messageId: MessageId; number: number } | null {
  const [, messageId, number] = /^(.+)\.(\d{1,6})$/.exec(new URLSearchParams(query).get('source') ?? '') ?? [];
  return messageId ? { messageId: messageId as MessageId, number: Number(number) } : null;
}

const isSection = (name: string): name is SettingsSection => (sections as readonly string[]).includes(name);

/** A truncated or mistyped address decodes to nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
