import { useEffect } from 'react';
import { isMac } from '../bridge.ts';
import { keysOfCommand } from '../commands/command-keys.ts';
import { type Command, commands } from '../commands/commands.ts';
import { keysOf } from '../lib/keys.ts';
import { useChat } from '../stores/chat/store.ts';
import { useSettings } from '../stores/settings.ts';
import { closedTooltip } from '../ui/tooltip.tsx';

/** A closing layer handles no keys. */
function role(name: string): string {
  return `[role=${name}]:not([data-state=closed])`;
}

const TEXT = 'input:not([type=checkbox]):not([type=radio]), textarea, [contenteditable=true]';
const LAYERS = [role('dialog'), role('alertdialog'), role('menu'), role('listbox')].join();

/** One listener for the keys of all commands. An open layer keeps its keys: Esc only closes it. Otherwise Esc cancels a new
 *  branch, wherever the focus is, or stops the answer. */
export function useKeyboard(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.defaultPrevented && !closedTooltip(event)) || event.isComposing) return;
      const keys = keysOf(event, isMac());
      if (keys === null) return;
      if (keys === 'Mod+A' && selectsAll(event.target)) event.preventDefault();
      if (keys === 'Escape' && endsBranch()) return event.preventDefault();
      const command = keys === 'Escape' ? stopByEscape() : commandFor(keys, event.target);
      if (!command?.available()) return;
      event.preventDefault();
      command.run();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}

/** Outside a text field "select all" selects the content, not the buttons around it. */
function selectsAll(target: EventTarget | null): boolean {
  if (layerOpen() || (target instanceof Element && target.closest(TEXT))) return false;
  const read = document.getElementById('transcript') ?? document.querySelector('main');
  if (read) window.getSelection()?.selectAllChildren(read);
  return true;
}

const layerOpen = () => document.querySelector(LAYERS) !== null;

function endsBranch(): boolean {
  const { branchFrom, setBranchFrom } = useChat.getState();
  if (branchFrom === null || layerOpen()) return false;
  setBranchFrom(null);
  return true;
}

const stopByEscape = () => (layerOpen() ? undefined : commands.find((command) => command.id === 'stop'));

function commandFor(keys: string, target: EventTarget | null): Command | undefined {
  const own = useSettings.getState().values.keybindings;
  if (layerOpen() && keys !== keysOfCommand('palette', own)) return undefined;
  const inText = target instanceof Element && target.closest(TEXT) !== null;
  return commands.find(
    (command) => keysOfCommand(command.id, own) === keys && !(command.outsideText && inText && !isEmptyText(target)),
  );
}

const isEmptyText = (target: Element) =>
  target instanceof HTMLTextAreaElement && target.value === '' && target.id === 'composer';
