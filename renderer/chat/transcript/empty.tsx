import { useTranslation } from 'react-i18next';
import { openChat } from '../../commands/commands.ts';
import { useFormats } from '../../i18n.ts';
import { focusComposer } from '../../lib/focus.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useDocuments } from '../../stores/documents/store.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Composer } from '../composer/composer.tsx';
import { abilityOf, SUGGESTIONS } from './suggested-prompts.ts';

/** A question and suggestions to begin with, and links to the documents and the last chat. */
export function Empty() {
  const { t } = useTranslation();
  const formats = useFormats();
  const chosen = useChat((state) => state.chosen);
  const last = useChat((state) => state.chats.find((chat) => chat.id !== chosen && chat.title !== '') ?? null);
  return (
    <div className="flex min-h-0 flex-1 flex-col justify-center overflow-y-auto">
      <div className="mx-auto -mt-10 w-full max-w-[calc(var(--container-read)+3rem)] px-6">
        <h1 className="px-4 text-2xl font-semibold tracking-tight">{t('empty.title')}</h1>
        <div className="pt-4.5 pb-4">
          <Composer tall />
        </div>
        <Suggestions />
        <div className="mt-0.5 flex flex-col px-1">
          <AskDocuments />
          <Line
            icon="attach"
            name={t('empty.attach')}
            about={t('empty.attachAbout')}
            onClick={() => document.getElementById('attach')?.click()}
          />
          {last && (
            <Line
              icon="chat"
              name={t('empty.continue', { title: last.title })}
              about={formats.ago(last.updatedAt, Date.now())}
              onClick={() => openChat(last.id)}
            />
          )}
        </div>
      </div>
    </div>
  );
}

/** Three suggestions, until something is typed. A chosen one goes into the field and can be edited. */
function Suggestions() {
  const { t } = useTranslation();
  const ability = abilityOf(useChatModel());
  const typed = useChat((state) => (state.drafts[state.chosen ?? 'new'] ?? '') !== '');
  const take = (text: string) => {
    actions.setDraft(text);
    focusComposer();
  };
  return (
    <ul aria-label={t('empty.suggestions')} className={`flex flex-wrap gap-2 px-1 pb-3 ${typed ? 'invisible' : ''}`}>
      {SUGGESTIONS.map((which) => (
        <li key={which} className="max-w-full">
          <Button className="max-w-full" onClick={() => take(t(`empty.${ability}.${which}.text`))}>
            <span className="truncate">{t(`empty.${ability}.${which}.name`)}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

const NAMED = 2;

function AskDocuments() {
  const { t } = useTranslation();
  const collections = useDocuments((state) => state.collections);
  const filled = collections?.filter(({ builtIn, documents }) => !builtIn && documents > 0) ?? [];
  if (filled.length === 0) return null;
  const names = filled.slice(0, NAMED).map(({ name }) => name);
  return (
    <Line
      icon="documents"
      name={t('empty.documents')}
      about={[...names, ...(filled.length > NAMED ? ['…'] : [])].join(', ')}
      onClick={() => actions.setOverlay({ kind: 'documents' })}
    />
  );
}

type LineProps = { icon: 'attach' | 'chat' | 'documents'; name: string; about: string; onClick: () => void };

function Line({ icon, name, about, onClick }: LineProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex h-8.5 items-center gap-3 rounded-sm px-3 ring-inset-focus hover:bg-hover"
    >
      <Icon name={icon === 'attach' ? 'file' : icon} className="text-fg-3" />
      <span className="max-w-2/3 truncate font-medium">{name}</span>
      <span className="truncate text-fg-3">{about}</span>
    </button>
  );
}
