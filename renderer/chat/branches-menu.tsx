import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { showMessage } from '../commands/show-message.ts';
import { useFormats } from '../i18n.ts';
import { type Branch, branchesOf, firstWords, isForked } from '../stores/chat/branches.ts';
import { actions, useChat } from '../stores/chat/store.ts';
import { IconButton } from '../ui/button.tsx';
import { Menu, MenuChoice, MenuChoices } from '../ui/overlays/menu.tsx';

/** All branches of a chat, shown once there is more than one. Choosing one shows it from where it diverges. */
export function BranchesMenu() {
  const { t } = useTranslation();
  const messages = useChat((state) => state.open?.shape);
  const forked = useMemo(() => isForked(messages), [messages]);
  const open = useChat((state) => state.overlay.kind === 'branches');
  const { setOverlay, closeOverlay } = actions;
  if (!forked) return null;
  return (
    <Menu
      label={t('commands.branches')}
      align="end"
      width={420}
      open={open}
      onOpen={(next) => (next ? setOverlay({ kind: 'branches' }) : closeOverlay('branches'))}
      trigger={<IconButton icon="branch" label={t('commands.branches')} className="no-drag" />}
    >
      <Branches />
    </Menu>
  );
}

function Branches() {
  const messages = useChat((state) => state.open?.messages);
  const leaf = useChat((state) => state.open?.chat.leafId ?? null);
  const branches = messages ? branchesOf(messages) : [];
  const choose = async (chosen: string) => {
    const branch = branches.find((one) => one.leaf === chosen);
    if (!branch) return;
    await actions.show(branch.leaf);
    showMessage(branch.begin.id);
  };
  return (
    <MenuChoices value={leaf ?? ''} onChange={(chosen) => void choose(chosen)}>
      {branches.map((branch) => (
        <BranchRow key={branch.leaf} branch={branch} />
      ))}
    </MenuChoices>
  );
}

function BranchRow({ branch }: { branch: Branch }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { leaf, begin, after, count, at, writing } = branch;
  const words = firstWords(begin) || (begin.attachments[0]?.name ?? t(begin.role === 'user' ? 'you' : 'answer'));
  const place = after ? t('branches.after', { words: firstWords(after) }) : t('branches.first');
  return (
    <MenuChoice value={leaf} text={words}>
      <bdi className="truncate font-medium">{words}</bdi>
      <span className="flex gap-1.5 text-xs text-fg-3 tabular-nums">
        <bdi className="min-w-0 truncate">{place}</bdi>
        <span className="flex-none">· {t('branches.messages', { count, messages: formats.exact(count) })}</span>
        <span className={`flex-none ${writing ? 'text-ink-text' : ''}`}>
          · {writing ? t('chat.writing') : formats.ago(at, Date.now())}
        </span>
      </span>
    </MenuChoice>
  );
}
