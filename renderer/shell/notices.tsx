import { useTranslation } from 'react-i18next';
import { create } from 'zustand';
import type { Notice } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { useEngine } from '../engine/store.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';

type Code = Notice['code'];

/** They hold until everything is saved again. */
const unsaved: readonly Code[] = ['disk-full', 'not-saved'];

const useNotices = create<{ said: Notice[]; closed: ReadonlySet<Code> }>()(() => ({ said: [], closed: new Set() }));

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

/** Whether something on the screen may not be on the disk. */
export const useUnsaved = () => useNotices(({ said }) => said.some(({ code }) => unsaved.includes(code)));

/** What the sentences name, where it is not told. */
const unnamed = { address: '', damaged: '', reason: '' };

const isGood = (code: Code) => code === 'saved-again';

export function Notices() {
  const { t } = useTranslation();
  const { said, closed } = useNotices();
  const atStart = useEngine((state) => state.info?.notices) ?? [];
  const shown = [...atStart, ...said].filter(
    ({ code }, index, all) => !closed.has(code) && all.findLastIndex((other) => other.code === code) === index,
  );
  return shown.map(({ code, details }) => (
    <div
      key={code}
      role={isGood(code) ? 'status' : 'alert'}
      className={`flex flex-none items-center gap-2 border-b px-5 py-2 ${isGood(code) ? 'border-line bg-ok-soft' : 'border-warn-line bg-warn-soft'}`}
    >
      {isGood(code) ? (
        <Icon name="check" className="text-ok-text" />
      ) : (
        <Icon name="warning" className="text-warn-text" />
      )}
      <span className="min-w-0 flex-1 wrap-anywhere">{t(`notices.${code}`, { ...unnamed, ...details })}</span>
      <IconButton
        small
        icon="close"
        label={t('close')}
        onClick={() => useNotices.setState((state) => ({ closed: new Set([...state.closed, code]) }))}
      />
    </div>
  ));
}
