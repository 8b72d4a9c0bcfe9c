import { createRoot } from 'react-dom/client';
import { type ClientFrame, type CoreFrame, pipePair } from '../../../app/protocol/index.ts';
import { App } from '../../../renderer/app.tsx';
import { attach } from '../../../renderer/bridge.ts';
import { restoreView } from '../../../renderer/shell/history.ts';
import { useChat } from '../../../renderer/stores/chat/store.ts';
import { useEngine } from '../../../renderer/stores/engine.ts';
import { useSettings } from '../../../renderer/stores/settings.ts';
import { useShell } from '../../../renderer/stores/shell.ts';
import '../../../renderer/ui/base.css';
import { createFakeCore } from '../../support/fakes/core.ts';
import { sceneOf } from './scenes.ts';

//  The renderer as it is, over a core in memory. `?scene=` chooses what is in it; `window.page` is for the tests.

const scene = sceneOf(new URLSearchParams(location.search).get('scene') ?? '');
const core = createFakeCore(scene.world);
const [page, other] = pipePair<ClientFrame, CoreFrame>();
core.switchboard.add(other);
attach(page);
createRoot(document.getElementById('root') as HTMLElement).render(<App />);

/** What the tests may reach. */
export type PageTools = {
  core: typeof core;
  world: typeof scene.world;
  useChat: typeof useChat;
  useShell: typeof useShell;
  useSettings: typeof useSettings;
  useEngine: typeof useEngine;
};

declare global {
  interface Window {
    page: PageTools;
  }
}
window.page = { core, world: scene.world, useChat, useShell, useSettings, useEngine };
// As in the page itself: what the address names comes first.
restoreView();
if (scene.open && useChat.getState().chosen === null) void useChat.getState().choose(scene.open);
scene.after?.();
