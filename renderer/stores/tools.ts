import { useTranslation } from 'react-i18next';
import { create } from 'zustand';
import type { ModelId, ToolEntry } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import english from '../strings/en.json';

type ToolStore = {
  /** Null until the core was asked. */
  tools: readonly ToolEntry[] | null;
  /** Whether a model can call tools, as far as it was asked about; by its id, `''` for the one of new chats. */
  able: Readonly<Record<string, boolean>>;
  ask(modelId: ModelId | null): Promise<void>;
};

/** What models can be given to call. */
export const useTools = create<ToolStore>()((set) => ({
  tools: null,
  able: {},
  async ask(modelId) {
    const { able, tools } = await core.call('tools.list', { modelId });
    set((state) => ({ tools, able: { ...state.able, [modelId ?? '']: able } }));
  },
}));

const isKnown = (name: string): name is keyof typeof english.tools.names => Object.hasOwn(english.tools.names, name);

/** What a tool is called on the screen. */
export function useToolNames(): (name: string) => string {
  const { t } = useTranslation();
  return (name) => (isKnown(name) ? t(`tools.names.${name}`) : name);
}

/** What a tool does: of those that ship with Longhand in the words of the page, of others in their own. */
export function useToolDescriptions(): (tool: ToolEntry) => string {
  const { t } = useTranslation();
  return ({ name, description }) => (isKnown(name) ? t(`tools.about.${name}`) : description);
}
