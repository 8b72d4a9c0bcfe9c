import { useTranslation } from 'react-i18next';
import { create } from 'zustand';
import type { ModelId, ToolEntry } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import english from '../strings/en.json';

type ToolStore = {
  /** Null until loaded. */
  tools: readonly ToolEntry[] | null;
  /** Whether a model can call tools, as far as queried; by id, `''` for the default model. */
  able: Readonly<Record<string, boolean>>;
  ask(modelId: ModelId | null): Promise<void>;
};

/** The tools that models can be given. */
export const useTools = create<ToolStore>()((set) => ({
  tools: null,
  able: {},
  async ask(modelId) {
    const { able, tools } = await core.call('tools.list', { modelId });
    set((state) => ({ tools, able: { ...state.able, [modelId ?? '']: able } }));
  },
}));

const isKnown = (name: string): name is keyof typeof english.tools.names => Object.hasOwn(english.tools.names, name);

/** The display name of a tool. */
export function useToolNames(): (name: string) => string {
  const { t } = useTranslation();
  return (name) => (isKnown(name) ? t(`tools.names.${name}`) : name);
}

/** What a tool does: for built-in tools in our strings, for others in their own words. */
export function useToolDescriptions(): (tool: ToolEntry) => string {
  const { t } = useTranslation();
  return ({ name, description }) => (isKnown(name) ? t(`tools.about.${name}`) : description);
}
