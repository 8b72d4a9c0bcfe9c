import { type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { ToolEntry } from '../../../app/protocol/index.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useMcp } from '../../stores/mcp.ts';
import { useSettings } from '../../stores/settings.ts';
import { useShell } from '../../stores/shell.ts';
import { useToolDescriptions, useToolNames, useTools } from '../../stores/tools.ts';
import { Switch } from '../../ui/choice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Popover, PopoverLine } from '../../ui/overlays/popover.tsx';
import { PromptsDialog } from './prompts-dialog.tsx';

/** The tools that the model of this chat may call. */
export function ToolsMenu() {
  const { t } = useTranslation();
  const nameOf = useToolNames();
  const aboutOf = useToolDescriptions();
  const model = useChatModel();
  const chat = useChat((state) => state.open?.chat ?? null);
  const isNew = useChat((state) => state.chosen === null);
  const fresh = useChat((state) => state.fresh.tools);
  const open = useChat((state) => state.overlay.kind === 'tools');
  const usual = useSettings((state) => state.values.tools);
  const { tools, able, ask } = useTools();
  const { setOverlay, closeOverlay, update } = actions;
  const chosen = (isNew ? fresh : (chat?.tools ?? null)) ?? usual;
  const modelId = model?.id ?? null;
  const on = chosen.length > 0;

  // Tool support is queried only when needed: the model may have to be read from disk.
  useEffect(() => {
    if (modelId !== null && (open || on)) ask(modelId).catch(() => {});
  }, [modelId, open, on, ask]);

  const withPrompts = useMcp(({ servers }) => servers?.some(({ prompts }) => prompts.length > 0) ?? false);
  const asksForPrompt = useChat((state) => state.overlay.kind === 'prompts');
  useEffect(() => {
    if (open)
      useMcp
        .getState()
        .load()
        .catch(() => {});
  }, [open]);

  const unable = modelId !== null && able[modelId] === false;
  const set = (next: string[]) => {
    if (isNew) useChat.setState((state) => ({ fresh: { ...state.fresh, tools: next } }));
    else void update({ tools: next });
  };
  const toggle = (some: readonly ToolEntry[], checked: boolean) => {
    const names = some.map(({ name }) => name);
    const others = chosen.filter((name) => !names.includes(name));
    set(checked ? [...others, ...names] : others);
  };
  const title = t('composer.tools');
  const count = chosen.filter((name) => tools?.some((tool) => tool.name === name) ?? true).length;
  const label = unable && on ? t('composer.toolsUnable') : on ? t('composer.toolsOn', { count }) : title;
  return (
    <>
      <Popover
        label={title}
        width={320}
        open={open}
        onOpen={(next) => (next ? setOverlay({ kind: 'tools' }) : closeOverlay('tools'))}
        trigger={
          <button
            type="button"
            aria-label={label}
            className={`inline-flex h-row min-w-0 items-center gap-1.5 rounded-sm px-2 font-medium whitespace-nowrap ${on && !unable ? 'bg-ink-soft text-ink-text' : 'text-fg-2 hover:bg-hover data-[state=open]:bg-select'}`}
          >
            <Icon name={unable && on ? 'warning' : 'tool'} className={on && !unable ? '' : 'text-fg-3'} />
            <span className="sr-only">{title}</span>
            {on && <span className="font-normal tabular-nums">{count}</span>}
          </button>
        }
      >
        <h2 className="px-2.5 pt-1.75 font-semibold">{title}</h2>
        <p className="px-2.5 pb-1.5 text-xs text-fg-3">
          {unable ? t('composer.toolsUnable') : t('composer.toolsAbout')}
        </p>
        {groupsOf(tools ?? []).map(([server, group]) => (
          <section key={server ?? ''} aria-label={server ?? title}>
            {server !== null && (
              <h3 className="flex items-center gap-3 border-t border-line px-2.5 pt-2 pb-1 text-xs text-fg-3">
                <bdi className="min-w-0 flex-1 truncate">{server}</bdi>
                <Switch
                  label={t('composer.toolsOf', { name: server })}
                  checked={group.every(({ name }) => chosen.includes(name))}
                  onChange={(checked) => toggle(group, checked)}
                />
              </h3>
            )}
            <ul>
              {group.map((tool) => (
                <li key={tool.name} className="flex items-center gap-3 px-2.5 py-1.5">
                  <span className="min-w-0 flex-1">
                    <bdi className="block truncate font-medium">{tool.builtIn ? nameOf(tool.name) : tool.title}</bdi>
                    <span className="line-clamp-2 text-xs text-fg-3">{aboutOf(tool)}</span>
                  </span>
                  <Switch
                    label={tool.builtIn ? nameOf(tool.name) : tool.title}
                    checked={chosen.includes(tool.name)}
                    onChange={(checked) => toggle([tool], checked)}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
        <PopoverLine />
        {withPrompts && (
          <MenuButton onClick={() => setOverlay({ kind: 'prompts' })}>{t('composer.prompts')}</MenuButton>
        )}
        <MenuButton
          onClick={() => {
            closeOverlay('tools');
            useShell.getState().go({ kind: 'settings', section: 'tools' });
          }}
        >
          {t('composer.manageTools')}
        </MenuButton>
      </Popover>
      {asksForPrompt && <PromptsDialog key={chat?.id ?? ''} onClose={() => closeOverlay('prompts')} />}
    </>
  );
}

const MenuButton = ({ onClick, children }: { onClick: () => void; children: ReactNode }) => (
  <button
    type="button"
    onClick={onClick}
    className="flex h-row w-full flex-none items-center gap-2 rounded-sm px-2.5 text-fg-2 ring-inset-focus hover:bg-hover"
  >
    {children}
  </button>
);

/** Those that ship with Longhand first, then a group for each server. */
function groupsOf(tools: readonly ToolEntry[]): [string | null, ToolEntry[]][] {
  const servers = new Set(tools.map(({ server }) => server));
  return [...servers].map((server) => [server, tools.filter((tool) => tool.server === server)]);
}
