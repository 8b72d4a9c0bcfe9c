import { useTranslation } from 'react-i18next';
import type { Chat } from '../../app/protocol/index.ts';
import { deleteChat } from '../commands/delete-chat.ts';
import { chatAsMarkdown, quotingIn } from '../commands/export.ts';
import { useFormats } from '../i18n.ts';
import { actions, useChat } from '../stores/chat/store.ts';
import { visibleBranch } from '../stores/chat/visible-branch.ts';
import { IconButton } from '../ui/button.tsx';
import { copyText } from '../ui/clipboard.ts';
import { Menu, MenuCheck, MenuItem, MenuLine } from '../ui/overlays/menu.tsx';
import { isPicture } from './pictures/picture.ts';
import { addressesOf } from './pictures/use-preview.ts';

/** Beside the title: the chat itself. At the end of the bar: what is in it. */
export function ChatMenu({ chat, icon }: { chat: Chat; icon: 'down' | 'more' }) {
  const { t } = useTranslation();
  const { update, setRenaming, setOverlay, readSamples } = actions;
  const label = icon === 'down' ? t('chat.options') : t('more');
  const formats = useFormats();
  const copyChat = async () => {
    const branch = visibleBranch(useChat.getState());
    await Promise.all(branch.map(({ id, role }) => role === 'assistant' && readSamples(id)));
    const { samples } = useChat.getState();
    const words = {
      you: t('you'),
      answer: t('answer'),
      figures: (figures: { speed: string; first: string; read: string; written: string }) =>
        t('stats.exported', figures),
      quote: quotingIn(t),
    };
    const pictures = branch.flatMap(({ attachments, toolUses }) =>
      [...attachments, ...toolUses.flatMap((use) => use.pictures)].filter(isPicture),
    );
    const shown = await addressesOf(pictures.map(({ id }) => id));
    await copyText(chatAsMarkdown(chat.title, branch, samples, formats, words, shown));
  };
  const trigger = <IconButton small={icon === 'down'} icon={icon} label={label} className="no-drag" />;
  return (
    <Menu label={label} align={icon === 'down' ? 'start' : 'end'} trigger={trigger}>
      {icon === 'down' && <MenuItem onSelect={() => setRenaming(chat.id)}>{t('chat.rename')}</MenuItem>}
      {icon === 'down' && (
        <MenuItem onSelect={() => void update({ pinned: !chat.pinned })}>
          {chat.pinned ? t('chat.unpin') : t('chat.pin')}
        </MenuItem>
      )}
      <MenuItem onSelect={() => setOverlay({ kind: 'chat-settings' })}>{t('chat.settings')}</MenuItem>
      <MenuCheck checked={chat.loopGuard} onChange={(loopGuard) => void update({ loopGuard })}>
        {t('thinking.noticeLoops')}
      </MenuCheck>
      {icon === 'more' && <MenuItem onSelect={() => void copyChat()}>{t('chat.copyAll')}</MenuItem>}
      {icon === 'down' && (
        <>
          <MenuLine />
          <MenuItem onSelect={() => void deleteChat(chat)} danger>
            {t('chat.delete')}
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
