import { menuKeys } from '../../app/protocol/index.ts';
import { isElectron, isMac } from '../bridge.ts';
import { shown } from '../lib/keys.ts';
import { useSettings } from '../stores/settings.ts';

/** Default keys, and alternatives for browsers that reserve them. Null: none until the user sets some. */
type Keys = { keys: string | null; inBrowser?: string };

const table = {
  palette: { keys: menuKeys.palette },
  search: { keys: menuKeys.search },
  'new-chat': { keys: menuKeys['new-chat'], inBrowser: 'Alt+N' },
  print: { keys: menuKeys.print },
  settings: { keys: menuKeys.settings },
  shortcuts: { keys: menuKeys.shortcuts },
  'toggle-sidebar': { keys: menuKeys['toggle-sidebar'] },
  'send-now': { keys: 'Mod+Enter' },
  stop: { keys: 'Mod+.' },
  'answer-now': { keys: 'Mod+Shift+.' },
  models: { keys: 'Mod+Shift+M' },
  'models-page': { keys: 'Mod+1', inBrowser: 'Alt+1' },
  documents: { keys: 'Mod+2', inBrowser: 'Alt+2' },
  'add-documents': { keys: null },
  'new-collection': { keys: null },
  'search-documents': { keys: null },
  'chat-documents': { keys: 'Mod+Shift+D', inBrowser: 'Alt+D' },
  sources: { keys: 'Mod+J', inBrowser: 'Alt+J' },
  performance: { keys: 'Mod+3', inBrowser: 'Alt+3' },
  server: { keys: 'Mod+4', inBrowser: 'Alt+4' },
  thinking: { keys: 'Mod+Shift+T', inBrowser: 'Alt+T' },
  attach: { keys: 'Mod+U' },
  screenshot: { keys: null },
  retry: { keys: 'Mod+R', inBrowser: 'Alt+R' },
  branch: { keys: 'Mod+Shift+B' },
  branches: { keys: null },
  'previous-version': { keys: 'Alt+ArrowLeft' },
  'next-version': { keys: 'Alt+ArrowRight' },
  'previous-message': { keys: 'Alt+ArrowUp' },
  'next-message': { keys: 'Alt+ArrowDown' },
  'copy-last': { keys: 'Mod+Shift+C' },
  find: { keys: 'Mod+F' },
  undo: { keys: 'Mod+Z' },
  rename: { keys: null },
  pin: { keys: null },
  delete: { keys: null },
  'chat-settings': { keys: null },
  'loop-guard': { keys: null },
  'theme-light': { keys: null },
  'theme-dark': { keys: null },
  'theme-system': { keys: null },
} satisfies Record<string, Keys>;

export type CommandId = keyof typeof table;

/** The keys of a command here and now: the user's own, the browser's, or those of the table. */
export function keysOfCommand(id: CommandId, own: Record<string, string>): string | null {
  const chosen = own[id];
  if (chosen !== undefined) return chosen === '' ? null : chosen;
  const { keys, inBrowser }: Keys = table[id];
  return (isElectron() ? null : inBrowser) ?? keys;
}

/** The same, written for tooltips and toasts, as properties: nothing where there are no keys. */
export function keysHint(id: CommandId, own = useSettings.getState().values.keybindings): { keys?: string } {
  const keys = keysOfCommand(id, own);
  return keys === null ? {} : { keys: shown(keys, isMac()) };
}

/** The same in a component, which follows when the keys are changed. */
export function useKeysHint(id: CommandId): { keys?: string } {
  return keysHint(
    id,
    useSettings((state) => state.values.keybindings),
  );
}
