import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { failureOf, type McpPrompt, type McpPromptMessage, type McpServer } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { focusComposer } from '../../lib/focus.ts';
import { sentenceOf } from '../../sentences.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useMcp } from '../../stores/mcp.ts';
import { Button } from '../../ui/button.tsx';
import { Field, TextArea } from '../../ui/field.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { SuggestingField } from './suggesting-field.tsx';

type Chosen = { server: McpServer; prompt: McpPrompt };

/** With fewer prompts there is nothing to search for. */
const WORTH_FINDING = 8;

/** Prompts of tool servers: chosen, filled in, and put into the message field. */
export function PromptsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const servers = useMcp((state) => state.servers) ?? [];
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState<string | null>(null);
  const [waiting, setWaiting] = useState(false);
  const fetching = useRef<AbortController | null>(null);
  // A text that comes after the dialog was closed has no place to go.
  useEffect(() => () => fetching.current?.abort(), []);

  const step = useRef<HTMLDivElement>(null);
  // The dialog stays open from step to step, so the focus has to be moved along.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another step, another first element
  useEffect(() => step.current?.querySelector<HTMLElement>('input, textarea, button')?.focus(), [chosen]);

  const insert = async ({ server, prompt }: Chosen) => {
    fetching.current = new AbortController();
    const { signal } = fetching.current;
    setProblem(null);
    setWaiting(true);
    try {
      const request = { serverId: server.id, name: prompt.name, given: filled(given) };
      const answer = await core.call('mcp.prompt', request, { signal });
      if (signal.aborted) return;
      if ('problem' in answer) return setProblem(t(`mcp.problem.${answer.problem}`, { reason: answer.detail }));
      if (answer.messages.length === 0) return setProblem(t('prompts.empty'));
      append(textOf(answer.messages, (role, text) => t(`prompts.${role}`, { text })));
      onClose();
      focusComposer();
    } catch (error) {
      if (!signal.aborted) setProblem(sentenceOf(failureOf(error)));
    } finally {
      if (!signal.aborted) setWaiting(false);
    }
  };
  const choose = (next: Chosen) => {
    setProblem(null);
    setGiven({});
    if (next.prompt.arguments.length > 0) setChosen(next);
    else void insert(next);
  };
  const back = () => {
    fetching.current?.abort();
    setWaiting(false);
    setProblem(null);
    setChosen(null);
  };
  const missing = chosen?.prompt.arguments.some(({ name, required }) => required && !given[name]?.trim()) ?? false;
  return (
    <Dialog
      open
      onClose={onClose}
      width={560}
      title={chosen?.prompt.title ?? t('prompts.title')}
      description={chosen ? chosen.prompt.description || chosen.server.name : t('prompts.about')}
      footer={
        <>
          {chosen && (
            <Button large onClick={back}>
              {t('prompts.back')}
            </Button>
          )}
          <span className="flex-1 text-fg-3">{waiting && t('prompts.loading')}</span>
          <Button large onClick={onClose}>
            {t('prompts.cancel')}
          </Button>
          {chosen && (
            <Button large kind="primary" disabled={missing || waiting} onClick={() => void insert(chosen)}>
              {t('prompts.insert')}
            </Button>
          )}
        </>
      }
    >
      <div ref={step}>
        {chosen ? (
          <Blanks
            key={chosen.prompt.name}
            chosen={chosen}
            given={given}
            onChange={(name, text) => setGiven({ ...given, [name]: text })}
          />
        ) : (
          <PromptList servers={servers} disabled={waiting} onChoose={choose} />
        )}
      </div>
      {problem && (
        <p role="alert" className="mt-2.5 text-bad-text">
          {problem}
        </p>
      )}
    </Dialog>
  );
}

type PromptListProps = { servers: readonly McpServer[]; disabled: boolean; onChoose: (chosen: Chosen) => void };

function PromptList({ servers, disabled, onChoose }: PromptListProps) {
  const { t } = useTranslation();
  const [query, setQuery] = useState('');
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ title, description }: McpPrompt) =>
    words.every((word) => `${title} ${description}`.toLocaleLowerCase().includes(word));
  const groups = servers
    .map((server) => ({ server, prompts: server.prompts.filter(matches) }))
    .filter(({ prompts }) => prompts.length > 0);
  const count = servers.reduce((sum, { prompts }) => sum + prompts.length, 0);
  return (
    <>
      {count > WORTH_FINDING && (
        <Field
          large
          icon="search"
          className="mb-3"
          aria-label={t('prompts.find')}
          placeholder={t('prompts.find')}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      )}
      {groups.length === 0 && <p className="text-fg-3">{t('prompts.none')}</p>}
      {groups.map(({ server, prompts }) => (
        <section key={server.id} aria-label={server.name} className="not-first:mt-3">
          <h3 className="pb-1 text-xs text-fg-3">
            <bdi>{server.name}</bdi>
          </h3>
          <ul>
            {prompts.map((prompt) => (
              <li key={prompt.name}>
                <button
                  type="button"
                  disabled={disabled}
                  onClick={() => onChoose({ server, prompt })}
                  className="-mx-2.5 flex w-[calc(100%+1.25rem)] flex-col items-start rounded-sm px-2.5 py-1.5 text-start ring-inset-focus hover:bg-hover"
                >
                  <bdi className="max-w-full truncate font-medium">{prompt.title}</bdi>
                  {prompt.description !== '' && (
                    <span className="line-clamp-2 text-xs text-fg-3">{prompt.description}</span>
                  )}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

type BlanksProps = {
  chosen: Chosen;
  given: Readonly<Record<string, string>>;
  onChange: (name: string, text: string) => void;
};

const MAX_LENGTH = 20_000;

function Blanks({ chosen: { server, prompt }, given, onChange }: BlanksProps) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-3">
      {prompt.arguments.map(({ name, description, required }) => {
        const label = required ? name : t('prompts.optional', { name });
        return (
          <div key={name}>
            <div className="mb-1 text-xs text-fg-3">
              <bdi>{label}</bdi>
              {description !== '' && <span className="block text-fg-2">{description}</span>}
            </div>
            {prompt.suggests ? (
              <SuggestingField
                label={label}
                blank={{
                  serverId: server.id,
                  name: prompt.name,
                  argument: name,
                  value: given[name] ?? '',
                  given: filled({ ...given, [name]: '' }),
                }}
                maxLength={MAX_LENGTH}
                onChange={(text) => onChange(name, text)}
              />
            ) : (
              <TextArea
                dir="auto"
                rows={1}
                aria-label={label}
                maxLength={MAX_LENGTH}
                className="max-h-40"
                value={given[name] ?? ''}
                onChange={(event) => onChange(name, event.target.value)}
              />
            )}
          </div>
        );
      })}
    </div>
  );
}

/** An argument that is left empty is not sent: the server uses its default. */
const filled = (given: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(given).filter(([, text]) => text.trim() !== ''));

/** Roles are named only if there are two. */
function textOf(
  messages: readonly McpPromptMessage[],
  named: (role: McpPromptMessage['role'], text: string) => string,
): string {
  const roles = new Set(messages.map(({ role }) => role));
  return messages.map(({ role, text }) => (roles.size > 1 ? named(role, text) : text)).join('\n\n');
}

function append(text: string) {
  const { drafts, chosen } = useChat.getState();
  const draft = (drafts[chosen ?? 'new'] ?? '').trimEnd();
  actions.setDraft(draft === '' ? text : `${draft}\n\n${text}`);
}
