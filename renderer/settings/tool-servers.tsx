import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { McpServer } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useMcp } from '../stores/mcp.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Switch, Tag } from '../ui/choice.tsx';
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { Menu, MenuItem } from '../ui/overlays/menu.tsx';
import { AddServer } from './add-server.tsx';
import { Section } from './section.tsx';

/** Programs and addresses that provide tools. */
export function ToolServers() {
  const { t } = useTranslation();
  const { servers, load } = useMcp();
  const [adding, setAdding] = useState(false);
  const [log, setLog] = useState<{ name: string; lines: string[] } | null>(null);
  const [removing, setRemoving] = useState<McpServer | null>(null);
  useEffect(() => {
    load().catch(() => {});
  }, [load]);
  const showLog = async ({ id, name }: McpServer) =>
    setLog({ name, lines: await core.call('mcp.log', { serverId: id }) });
  return (
    <Section title={t('mcp.title')} note={t('mcp.note')}>
      <div className="flex items-center gap-6 px-4 py-3">
        <p className="min-w-0 flex-1 text-fg-2">{t('mcp.about')}</p>
        <Button icon="attach" onClick={() => setAdding(true)}>
          {t('mcp.add')}
        </Button>
      </div>
      {(servers ?? []).map((server) => (
        <ServerRow
          key={server.id}
          server={server}
          onLog={() => void showLog(server)}
          onRemove={() => setRemoving(server)}
        />
      ))}
      {adding && <AddServer onClose={() => setAdding(false)} />}
      {log && (
        <Dialog
          open
          onClose={() => setLog(null)}
          width={640}
          title={t('mcp.logOf', { name: log.name })}
          footer={
            <Button large kind="primary" className="ms-auto" data-suggested onClick={() => setLog(null)}>
              {t('close')}
            </Button>
          }
        >
          <pre
            dir="ltr"
            className="max-h-80 min-h-20 overflow-auto rounded-md bg-code px-3 py-2 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
          >
            {log.lines.length === 0 ? t('mcp.noLog') : log.lines.join('\n')}
          </pre>
        </Dialog>
      )}
      {removing && (
        <ConfirmDialog
          title={t('mcp.removeTitle', { name: removing.name })}
          description={t('mcp.removeAbout')}
          cancel={t('mcp.cancel')}
          action={t('mcp.remove')}
          onConfirm={() => core.call('mcp.remove', { serverId: removing.id })}
          onClose={() => setRemoving(null)}
        />
      )}
    </Section>
  );
}

function ServerRow({ server, onLog, onRemove }: { server: McpServer; onLog: () => void; onRemove: () => void }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const { state, tools } = server;
  const failed = state.status === 'failed';
  return (
    <div className="border-t border-line px-4 py-3">
      <div className="flex items-center gap-2">
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-2">
            <bdi className="truncate font-medium">{server.name}</bdi>
            {server.remote && <Tag tone="warn">{t('mcp.remote')}</Tag>}
          </div>
          <div dir="ltr" className="mt-0.5 truncate text-start font-mono text-xs text-fg-3" title={server.target}>
            {server.target}
          </div>
        </div>
        {tools.length > 0 && (
          <Button kind="link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {t('mcp.tools', { count: tools.length })}
          </Button>
        )}
        <Menu
          label={t('mcp.more', { name: server.name })}
          trigger={<IconButton small icon="more" label={t('mcp.more', { name: server.name })} />}
        >
          <MenuItem onSelect={() => void core.call('mcp.restart', { serverId: server.id })}>
            {t('mcp.restart')}
          </MenuItem>
          <MenuItem takesFocus onSelect={onLog}>
            {t('mcp.log')}
          </MenuItem>
          <MenuItem danger takesFocus onSelect={onRemove}>
            {t('mcp.remove')}
          </MenuItem>
        </Menu>
      </div>
      {(failed || state.status === 'starting') && (
        <p className={`mt-1 text-xs ${failed ? 'text-bad-text' : 'text-fg-3'}`}>
          {failed ? t(`mcp.problem.${state.problem}`, { reason: state.detail }) : t('mcp.starting')}
        </p>
      )}
      {open && (
        <ul className="mt-2 flex flex-col gap-2 border-t border-line pt-2">
          {tools.map((tool) => (
            <li key={tool.name} className="flex items-center gap-4">
              <span className="min-w-0 flex-1">
                <span className="flex items-center gap-2">
                  <bdi className="truncate font-mono text-xs font-medium">{tool.title}</bdi>
                  {tool.kind === 'destroys' && <Tag tone="warn">{t('mcp.destroys')}</Tag>}
                </span>
                <span className="line-clamp-2 text-xs text-fg-3">{tool.description}</span>
              </span>
              {tool.kind !== 'destroys' && (
                <span className="flex items-center gap-2 text-xs text-fg-3">
                  {t('mcp.always')}
                  <Switch
                    label={t('mcp.alwaysOf', { name: tool.title })}
                    checked={tool.always}
                    onChange={(always) =>
                      void core.call('mcp.setAlways', { serverId: server.id, tool: tool.name, always })
                    }
                  />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
