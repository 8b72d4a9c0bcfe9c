import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Failure, failureOf, type MessageId } from '../../../app/protocol/index.ts';
import { useFormats } from '../../i18n.ts';
import { focusComposer } from '../../lib/focus.ts';
import { sentenceOf } from '../../sentences.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import type { Overlay } from '../../stores/chat/view-state.ts';
import { Button } from '../../ui/button.tsx';
import { type Offer, Offers } from '../../ui/choice.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { excludeFromContext, goOn, makeLarger, shorten, takeOtherModel, takeToNewChat } from './overflow-actions.ts';
import { OverflowBar } from './overflow-bar.tsx';
import { bestWay, fitsAlone, type Possible, type Way } from './overflow-options.ts';
import { SearchStep } from './search-step.tsx';
import { SummaryStep } from './summary-step.tsx';
import { useOverflowOptions } from './use-overflow-options.ts';

type Full = Extract<Overlay, { kind: 'overflow' }>;

/** Shown when the message does not fit or the answer has reached the end of the context. Nothing was sent or
 *  dropped. */
export function Overflow() {
  const overlay = useChat((state) => state.overlay);
  return overlay.kind === 'overflow' ? <Question full={overlay} /> : null;
}

/** Whether the files of a message are too long for any chat with this model: then searching them is the only option. */
function isTooLongAlone(full: Full): boolean {
  const files = useChat.getState().attachments[full.chatId] ?? [];
  return full.resumes === null && files.length > 0 && !fitsAlone(full);
}

//  choosing ──summarise──▶ summarising ──used──▶ (goes on)
//     ▲                         └─stopped─┐
//     ├───────────────────────────────────┘
//     └──others── searching ──read──▶ (goes on)          a file that fits nowhere begins there

function Question({ full }: { full: Full }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const room = useOverflowOptions(full);
  const { larger, plan, other } = room;
  const [picked, setPicked] = useState<Way | null>(null);
  const [summarising, setSummarising] = useState<MessageId | null>(null);
  // Decided once: the composer is emptied while its content is searched.
  const [searching, setSearching] = useState(() => isTooLongAlone(full));
  const [failure, setFailure] = useState<Failure | null>(null);
  const [acting, setActing] = useState(false);
  const offers = useOffers(full, room);
  const way = picked ?? bestWay(full, room);
  const possible = offers.some(({ value, disabled }) => value === way && !disabled);

  const close = () => {
    actions.closeOverlay('overflow');
    focusComposer();
  };

  const act = async () => {
    if (way === 'summary' && plan?.summary) return setSummarising(plan.summary.upTo);
    setActing(true);
    setFailure(null);
    try {
      if (way === 'new-chat') return await takeToNewChat(full.chatId);
      if (way === 'shorten') return shorten(full.chatId, full);
      if (way === 'search') return setSearching(true);
      if (way === 'model' && other) await takeOtherModel(full.chatId, other);
      if (way === 'larger' && larger) await makeLarger(larger.size);
      if (way === 'trim' && plan?.trim) await excludeFromContext(plan.trim.upTo, null);
      await goOn(full.chatId, full.resumes);
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setActing(false);
    }
  };

  if (searching) {
    return (
      <SearchStep
        chatId={full.chatId}
        full={full}
        onStop={close}
        onOthers={() => setSearching(false)}
        onDone={(asks) => void (asks ? goOn(full.chatId, null) : close())}
      />
    );
  }

  if (summarising) {
    return (
      <SummaryStep
        messageId={summarising}
        onStop={() => setSummarising(null)}
        onUse={async (summary) => {
          await excludeFromContext(summarising, summary);
          await goOn(full.chatId, full.resumes);
        }}
      />
    );
  }
  const needed = formats.tokens(full.used + full.draft);
  const limit = formats.contextSize(full.limit);
  return (
    <Dialog
      open
      onClose={close}
      title={full.resumes ? t('overflow.answerTitle') : t('overflow.title')}
      description={full.resumes ? t('overflow.answerAbout', { limit }) : t('overflow.about', { needed, limit })}
      width={560}
      footer={
        <>
          <span className="text-xs text-fg-3">{t('overflow.safe')}</span>
          <span className="flex-1" />
          <Button large onClick={close}>
            {t('cancel')}
          </Button>
          <Button large kind="primary" data-suggested disabled={acting || !possible} onClick={() => void act()}>
            {way === 'larger' && larger
              ? t('overflow.do.larger', { size: formats.contextSize(larger.size) })
              : t(`overflow.do.${way ?? 'shorten'}`)}
          </Button>
        </>
      }
    >
      <OverflowBar full={full} />
      <div className="mt-4.5">
        <Offers<Way | 'none'>
          label={t('overflow.choices')}
          value={way ?? 'none'}
          offers={offers}
          onChange={(next) => setPicked(next === 'none' ? null : next)}
        />
      </div>
      {failure && (
        <p role="alert" className="mt-3 text-bad-text">
          {sentenceOf(failure)}
        </p>
      )}
    </Dialog>
  );
}

function useOffers(full: Full, { larger, plan, other, searchable }: Possible): Offer<Way>[] {
  const { t } = useTranslation();
  const formats = useFormats();
  const frees = (tokens: number) => t('overflow.frees', { tokens: formats.tokens(tokens) });
  const offers: Offer<Way>[] = [];
  if (larger) {
    const tooLarge = larger.verdict === 'too-large';
    const more = `+${formats.memory(larger.more)}`;
    offers.push({
      value: 'larger',
      name: t('overflow.larger', { size: formats.contextSize(larger.size) }),
      about: t('overflow.largerAbout'),
      price: larger.free === null ? more : t('overflow.price', { more, free: formats.memory(larger.free) }),
      disabled: tooLarge,
      ...(larger.verdict && {
        tag: {
          tone: tooLarge ? 'bad' : larger.verdict === 'tight' ? 'warn' : 'ok',
          text: t(`model.fit.${larger.verdict}`),
        },
      }),
    });
  }
  if (plan?.trim) {
    const { turns, frees: tokens } = plan.trim;
    offers.push({
      value: 'trim',
      name: t('overflow.trim', { count: turns, turns: formats.exact(turns) }),
      about: t('overflow.trimAbout'),
      price: frees(tokens),
    });
  }
  if (plan?.summary) {
    const { turns, frees: tokens, seconds } = plan.summary;
    offers.push({
      value: 'summary',
      name: t('overflow.summary', { count: turns, turns: formats.exact(turns) }),
      about: t('overflow.summaryAbout'),
      price:
        seconds === null
          ? frees(tokens)
          : t('overflow.freesTakes', {
              tokens: formats.tokens(tokens),
              time: formats.duration(seconds * 1000),
            }),
    });
  }
  // Where the message alone is too long, a new chat would only ask again.
  if (!full.resumes && full.used > 0 && fitsAlone(full)) {
    offers.push({
      value: 'new-chat',
      name: t('overflow.newChat'),
      about: t('overflow.newChatAbout'),
      price: frees(full.used),
    });
  }
  if (searchable) offers.push({ value: 'search', name: t('overflow.search'), about: t('overflow.searchAbout') });
  if (other) {
    const size = formats.contextSize(other.size);
    offers.push({
      value: 'model',
      name: t('overflow.model', { model: other.model.name }),
      about: t('overflow.modelAbout', { size }),
    });
  }
  if (full.resumes) return offers;
  const over = Math.max(1, full.used + full.draft - full.limit);
  offers.push({
    value: 'shorten',
    name: t('overflow.shorten'),
    about: t('overflow.shortenAbout', { count: over, tokens: formats.tokens(over) }),
  });
  return offers;
}
