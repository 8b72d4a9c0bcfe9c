import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormats } from '../i18n.ts';
import { useSettings } from '../settings/store.ts';
import { deviceInUse, fitOf, useEngine } from '../shell/engine.ts';
import { Button } from '../ui/button.tsx';
import { type Offer, Offers } from '../ui/choice.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { nextContextSize } from './context-size.ts';
import { focusComposer } from './focus.ts';
import { useChatModel } from './model-picker.tsx';
import { actions, type Overlay, useChat } from './store.ts';

type Full = Extract<Overlay, { at: 'overflow' }>;
type Choice = 'larger' | 'new-chat';

/** The message is too long for what is left. Nothing was sent or dropped. */
export function Overflow() {
  const overlay = useChat((state) => state.overlay);
  return overlay.at === 'overflow' ? <Question full={overlay} /> : null;
}

function Question({ full }: { full: Full }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const model = useChatModel();
  const devices = useEngine((state) => state.devices);
  const settings = useSettings((state) => state.values);
  const setSettings = useSettings((state) => state.set);
  const { setOverlay, setDraft, choose, send } = actions;
  const needed = full.used + full.draft;
  const larger = nextContextSize(needed, model?.description?.contextLength ?? 0);
  const memory = deviceInUse(devices, settings.device)?.memoryBytes ?? 0;
  const fit = larger && model ? fitOf(model, larger, memory) : null;
  const [choice, setChoice] = useState<Choice>(larger && fit !== 'too-large' ? 'larger' : 'new-chat');

  const offers: Offer<Choice>[] = [];
  if (larger && model?.description) {
    const more = (larger - full.limit) * model.description.contextBytesPerToken;
    offers.push({
      value: 'larger',
      name: t('overflow.larger', { size: formats.contextSize(larger) }),
      about: t('overflow.largerAbout'),
      price: `+${formats.memory(more)}`,
      ...(fit && { tag: t(`model.fit.${fit}`) }),
    });
  }
  offers.push({
    value: 'new-chat',
    name: t('overflow.newChat'),
    about: t('overflow.newChatAbout'),
    price: t('overflow.frees', { tokens: formats.tokens(full.used) }),
  });

  const close = () => {
    setOverlay({ at: 'none' });
    focusComposer();
  };

  const act = async () => {
    setOverlay({ at: 'none' });
    if (choice === 'larger' && larger) {
      await setSettings({ contextLength: larger });
      await send(false);
      return;
    }
    const { chosen, drafts } = useChat.getState();
    const text = (chosen && drafts[chosen]) ?? '';
    setDraft('');
    await choose(null);
    setDraft(text);
    focusComposer();
  };

  return (
    <Dialog
      open
      onClose={close}
      title={t('overflow.title')}
      description={t('overflow.about', { needed: formats.tokens(needed), limit: formats.contextSize(full.limit) })}
      width={560}
      footer={
        <>
          <span className="text-xs text-fg-3">{t('overflow.safe')}</span>
          <span className="flex-1" />
          <Button large onClick={close}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" data-suggested onClick={() => void act()}>
            {choice === 'larger' && larger
              ? t('overflow.doLarger', { size: formats.contextSize(larger) })
              : t('overflow.doNewChat')}
          </Button>
        </>
      }
    >
      <Bar full={full} />
      <div className="mt-4.5">
        <Offers label={t('overflow.choices')} value={choice} offers={offers} onChange={setChoice} />
      </div>
    </Dialog>
  );
}

/** Chat, message and excess to scale, with a line where the context ends. */
function Bar({ full }: { full: Full }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const { used, draft, limit } = full;
  const needed = used + draft;
  const chat = Math.min(used, limit);
  const parts = [
    { name: t('overflow.chat', { tokens: formats.tokens(used) }), share: chat, color: 'bg-edge' },
    { name: t('overflow.message', { tokens: formats.tokens(draft) }), share: limit - chat, color: 'bg-ink' },
    { name: t('overflow.over', { tokens: formats.tokens(needed - limit) }), share: needed - limit, color: 'bg-bad' },
  ];
  const line = `${(limit / needed) * 100}%`;
  return (
    <div className="relative">
      <div aria-hidden className="flex h-3.5 gap-0.5 overflow-hidden rounded-xs">
        {parts.map((part) => (
          <span key={part.color} className={part.color} style={{ flexGrow: part.share }} />
        ))}
      </div>
      <span
        aria-hidden
        className="absolute -top-1.25 h-6 border-s-[1.5px] border-fg"
        style={{ insetInlineStart: line }}
      />
      <div className="mt-2 flex flex-wrap gap-x-4 text-xs text-fg-2 tabular-nums">
        {parts.map((part) => (
          <span key={part.color} className="inline-flex items-center gap-1.5">
            <span className={`h-2.5 w-3 rounded-[2px] ${part.color}`} />
            {part.name}
          </span>
        ))}
      </div>
    </div>
  );
}
