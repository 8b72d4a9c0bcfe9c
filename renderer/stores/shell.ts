import { create } from 'zustand';

export const sections = [
  'appearance',
  'chat',
  'sampling',
  'thinking',
  'tools',
  'storage',
  'downloads',
  'privacy',
  'engine',
  'shortcuts',
] as const;
export type SettingsSection = (typeof sections)[number];
export type Place =
  | { kind: 'chat' }
  | { kind: 'models' }
  | { kind: 'documents' }
  | { kind: 'performance' }
  | { kind: 'server' }
  | { kind: 'settings'; section: SettingsSection };

type ShellStore = {
  place: Place;
  /** Beside the page from 1024 px on; over it if narrower. */
  sidebar: boolean;
  sidebarOver: boolean;
  palette: 'closed' | 'all' | 'chats';
  go(place: Place): void;
  toggleSidebar(): void;
  setPalette(palette: ShellStore['palette']): void;
};

const WIDE = '(min-width: 64rem)';
export const isWide = () => matchMedia(WIDE).matches;

export const useShell = create<ShellStore>()((set) => ({
  place: { kind: 'chat' },
  sidebar: true,
  sidebarOver: false,
  palette: 'closed',
  go: (place) => set({ place, sidebarOver: false }),
  toggleSidebar: () => set((state) => (isWide() ? { sidebar: !state.sidebar } : { sidebarOver: !state.sidebarOver })),
  setPalette: (palette) => set({ palette }),
}));
