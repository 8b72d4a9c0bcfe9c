import { useTranslation } from 'react-i18next';
import { useFormats } from '../../i18n.ts';
import { type Thinks, thinkingOf, thinksOf } from '../../lib/thinking.ts';
import { useChatModel } from '../../stores/chat/chat-model.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useSettings } from '../../stores/settings.ts';
import { Segmented, Slider, Switch } from '../../ui/choice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Popover, PopoverLine } from '../../ui/overlays/popover.tsx';
import { budgets, nearestBudget } from './thinking-budgets.ts';

const names: Thinks[] = ['off', 'auto', 'on'];

/** Whether this chat thinks before answering, its thinking budget, and loop detection. */
export function ThinkingMenu() {
  const { t } = useTranslation();
  const formats = useFormats();
  const model = useChatModel();
  const chat = useChat((state) => state.open?.chat ?? null);
  const fresh = useChat((state) => state.fresh.thinking);
  const open = useChat((state) => state.overlay.kind === 'thinking');
  const { setOverlay, closeOverlay, update } = actions;
  const settings = useSettings((state) => state.values);
  const setSettings = useSettings((state) => state.set);
  if (model?.thinking && !model.thinking.able) return null;
  const thinking = chat ? chat.thinking : fresh;
  const value = thinksOf(thinking);
  const budget = settings.thinkingBudget.tokens;
  const at = nearestBudget(budget);
  const choose = (next: Thinks) => {
    if (chat) void update({ thinking: thinkingOf(next) });
    else useChat.setState((state) => ({ fresh: { ...state.fresh, thinking: thinkingOf(next) } }));
  };
  return (
    <Popover
      label={t('thinking.title')}
      width={264}
      open={open}
      onOpen={(next) => (next ? setOverlay({ kind: 'thinking' }) : closeOverlay('thinking'))}
      trigger={
        <button
          type="button"
          className="inline-flex h-row items-center gap-1.5 rounded-sm px-2 font-medium whitespace-nowrap text-fg-2 hover:bg-hover data-[state=open]:bg-select"
        >
          <Icon name="pen" className="text-fg-3" />
          <span className="@max-[40rem]:sr-only max-lg:sr-only">{t('thinking.title')}</span>
          <span className="font-normal text-fg-3 @max-[28rem]:sr-only">{t(`thinking.${value}`)}</span>
        </button>
      }
    >
      <div className="px-2.5 pt-2.25 pb-2.5">
        <div className="flex items-center">
          <h2 className="flex-1 font-semibold">{t('thinking.title')}</h2>
          <Segmented
            label={t('thinking.title')}
            value={value}
            options={names.map((name) => ({ value: name, name: t(`thinking.${name}`) }))}
            onChange={choose}
          />
        </div>
        <div className="mt-3.5 flex items-center tabular-nums">
          <span className="text-fg-2">{t('thinking.budget')}</span>
          <span className="ms-auto font-medium">
            {budget === null ? t('thinking.noBudget') : t('tokens', { count: budget, tokens: formats.exact(budget) })}
          </span>
        </div>
        <div className="mt-1">
          <Slider
            label={t('thinking.budget')}
            value={at}
            stops={budgets.map(stopName)}
            onChange={(stop) =>
              void setSettings({ thinkingBudget: { ...settings.thinkingBudget, tokens: budgets[stop] ?? null } })
            }
          />
          <div aria-hidden className="flex justify-between text-2xs text-fg-3 tabular-nums" dir="ltr">
            {budgets.map((stop) => (
              <span key={String(stop)}>{stop === null ? '∞' : formats.contextSize(stop)}</span>
            ))}
          </div>
        </div>
      </div>
      {chat && (
        <>
          <PopoverLine />
          <div className="flex min-h-row items-center gap-2 px-2.5">
            <span className="flex-1">{t('thinking.noticeLoops')}</span>
            <Switch
              label={t('thinking.noticeLoops')}
              checked={chat.loopGuard}
              onChange={(loopGuard) => void update({ loopGuard })}
            />
          </div>
        </>
      )}
    </Popover>
  );

  function stopName(stop: number | null): string {
    return stop === null ? t('thinking.noBudget') : t('tokens', { count: stop, tokens: formats.exact(stop) });
  }
}
