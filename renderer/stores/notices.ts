import { create } from 'zustand';
import type { Notice } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';

type Code = Notice['code'];

/** These remain until everything is saved again. */
const unsaved: readonly Code[] = ['disk-full', 'not-saved'];

export const useNotices = create<{ said: Notice[]; closed: ReadonlySet<Code> }>()(() => ({
  said: [],
  closed: new Set(),
}));

/** Things that belong to no single page: a full disk, a database restored from its backup. Each code once; that there is
 *  room again takes the place of that there was none. */
export const listenToNotices = () =>
  core.on('notice', (notice) => {
    const gone: Code[] = notice.code === 'saved-again' ? ['saved-again', ...unsaved] : [notice.code];
    useNotices.setState((state) => ({
      said: [...state.said.filter(({ code }) => !gone.includes(code)), notice],
      closed: new Set([...state.closed].filter((code) => code !== notice.code)),
    }));
  });

/** Whether something on screen may not be saved. */
export const useUnsaved = () => useNotices(({ said }) => said.some(({ code }) => unsaved.includes(code)));
