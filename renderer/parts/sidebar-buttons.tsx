import { useTranslation } from 'react-i18next';
import { useKeysHint } from '../commands/command-keys.ts';
import { commandById } from '../commands/commands.ts';
import { trafficLights } from '../lib/traffic-lights.ts';
import { useShell } from '../stores/shell.ts';
import { IconButton } from '../ui/button.tsx';

/** At the top of a page while the sidebar is hidden. */
export function SidebarButtons() {
  const { t } = useTranslation();
  const beside = useShell((state) => state.sidebar);
  const toggle = useShell((state) => state.toggleSidebar);
  const keys = useKeysHint('toggle-sidebar');
  return (
    <span
      className={`no-drag -ms-1.5 flex items-center gap-2 ${beside ? 'lg:hidden' : ''} ${trafficLights() ? 'ps-16' : ''}`}
    >
      <IconButton icon="sidebar" label={t('sidebar.show')} {...keys} onClick={toggle} />
      <IconButton icon="new" label={t('commands.new-chat')} onClick={commandById('new-chat').run} />
    </span>
  );
}
