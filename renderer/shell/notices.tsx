import i18next from 'i18next';
import { useTranslation } from 'react-i18next';
import { create } from 'zustand';
import { core } from '../bridge.ts';
import en from '../strings/en.json';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { useEngine } from './engine.ts';

type Said = { code: string; details: Record<string, string> };

const useNotices = create<{ said: Said[]; closed: ReadonlySet<string> }>()(() => ({ said: [], closed: new Set() }));

/** Things that belong to no single page: a full disk, a database restored from its backup. Each code once. */
export const listenToNotices = () =>
  core.on('notice', (notice) =>
    useNotices.setState((state) => ({
      said: [...state.said.filter((other) => other.code !== notice.code), notice],
      closed: new Set([...state.closed].filter((code) => code !== notice.code)),
    })),
  );

const sentences: Record<string, string> = en.notices;

export function Notices() {
  const { t } = useTranslation();
  const { said, closed } = useNotices();
  const atStart = useEngine((state) => state.info?.notices) ?? [];
  const shown = [...atStart, ...said].filter(
    (notice, index, all) =>
      !closed.has(notice.code) && all.findLastIndex((other) => other.code === notice.code) === index,
  );
  return shown.map((notice) => (
    <div
      key={notice.code}
      role="alert"
      className="flex flex-none items-center gap-2 border-b border-warn-line bg-warn-soft px-5 py-2"
    >
      <Icon name="warning" className="text-warn-text" />
      <span className="min-w-0 flex-1 wrap-anywhere">{sentenceOf(notice)}</span>
      <IconButton
        small
        icon="close"
        label={t('close')}
        onClick={() => useNotices.setState((state) => ({ closed: new Set([...state.closed, notice.code]) }))}
      />
    </div>
  ));

  function sentenceOf({ code, details }: Said): string {
    const sentence: string | undefined = sentences[code];
    if (sentence) return i18next.services.interpolator.interpolate(sentence, details, i18next.language, {});
    return t('notices.other', { code, details: Object.values(details).join(', ') });
  }
}
