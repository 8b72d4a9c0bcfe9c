import { memo, type PointerEvent, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import type { Message, MessageId } from '../../../app/protocol/index.ts';
import { SHOW_MESSAGE } from '../../commands/show-message.ts';
import { type Held, HOLD_LINE, heldAt } from '../../lib/scroll-anchor.ts';
import { isRunning } from '../../stores/chat/reducers.ts';
import { useChat } from '../../stores/chat/store.ts';
import { branchOf, markersOf, type Versions, versionsOf } from '../../stores/chat/tree.ts';
import { visibleEnd } from '../../stores/chat/visible-branch.ts';
import { Button } from '../../ui/button.tsx';
import { Answer } from './answer.tsx';
import { ContextMarker } from './context-marker.tsx';
import { MessageBoundary } from './failures/message-error-boundary.tsx';
import { UserMessage } from './user-message.tsx';

const NEAR = 24;
/** The list also scrolls when it measures a height: only scrolling soon after an input event counts as the user's. */
const BY_HAND_MS = 500;

/** Keeps the end in view while text arrives, until the reader scrolls up; again from the end on. */
function useFollowing(branch: readonly Message[]) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const lastTop = useRef(0);
  /** The position of the end when it was last scrolled into view. */
  const endTop = useRef(0);
  const touched = useRef(Number.NEGATIVE_INFINITY);
  const held = useRef<Held | null>(null);
  const [away, setAway] = useState(false);

  const toEnd = useCallback(() => {
    following.current = true;
    setAway(false);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);

  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    const distance = element.scrollHeight - element.clientHeight - element.scrollTop;
    // A held line may come near the end by itself.
    if (distance <= NEAR && !held.current) following.current = true;
    else if (element.scrollTop < lastTop.current && performance.now() - touched.current < BY_HAND_MS)
      following.current = false;
    lastTop.current = element.scrollTop;
    setAway(!following.current && distance > NEAR);
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !content.current) return;
    const stay = () => {
      if (held.current?.keep(element)) return;
      held.current = null;
      if (!following.current) return;
      element.scrollTop = element.scrollHeight;
      endTop.current = element.scrollTop;
    };
    const observer = new ResizeObserver(stay);
    observer.observe(content.current);
    observer.observe(element);
    stay();
    // The list corrects the scroll position too, a frame or more after a size change, so every frame is checked.
    let frame = 0;
    const stayHeld = () => {
      if (!held.current) return;
      stay();
      frame = requestAnimationFrame(stayHeld);
    };
    const hold = (event: Event) => {
      held.current = heldAt((event as CustomEvent<Element>).detail);
      following.current = false;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(stayHeld);
    };
    element.addEventListener(HOLD_LINE, hold);
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      element.removeEventListener(HOLD_LINE, hold);
    };
  }, []);

  const last = branch.at(-1);
  const sent = last?.role === 'assistant' ? last.parentId : last?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new question of one's own brings the end back
  useLayoutEffect(toEnd, [sent]);

  /** Stops following: something other than the end is to be shown. */
  const leave = useCallback(() => {
    following.current = false;
  }, []);

  const onTouch = useCallback(() => {
    touched.current = performance.now();
  }, []);
  /** A screen reader may have scrolled away from the end: what is pressed there must not move under the pointer, or the press
   *  is lost. */
  const onPointerDown = useCallback(() => {
    onTouch();
    const element = scroller.current;
    if (element && element.scrollTop < endTop.current - NEAR) following.current = false;
  }, [onTouch]);
  const onWheel = useCallback(() => {
    onTouch();
    held.current = null;
  }, [onTouch]);
  const onPointerMove = useCallback((event: PointerEvent) => event.buttons !== 0 && onTouch(), [onTouch]);
  const reader = {
    onScroll,
    onWheel,
    onTouchMove: onWheel,
    onKeyDown: onTouch,
    onPointerDown,
    onPointerMove,
  };
  return { scroller, content, reader, away, toEnd, leave };
}

export function Transcript() {
  const { t } = useTranslation();
  const messages = useChat((state) => state.open?.shape);
  const leaf = useChat(visibleEnd);
  const branch = useMemo(() => (messages ? branchOf(messages, leaf) : []), [messages, leaf]);
  const find = useChat((state) => state.overlay.kind === 'find');
  const { scroller, content, reader, away, toEnd, leave } = useFollowing(branch);
  const list = useRef<VirtualizerHandle>(null);
  const known = useRef<Versions>(new Map());
  const versions = useMemo(
    () => (messages ? versionsOf(messages, branch, known.current) : known.current),
    [messages, branch],
  );
  known.current = versions;
  const { outOfView, marked } = useMemo(() => markersOf(branch), [branch]);
  const running = branch.findIndex(isRunning);
  useEffect(() => {
    const show = (event: Event) => {
      leave();
      list.current?.scrollToIndex((event as CustomEvent<number>).detail, { align: 'center' });
    };
    const element = scroller.current;
    element?.addEventListener(SHOW_MESSAGE, show);
    return () => element?.removeEventListener(SHOW_MESSAGE, show);
  }, [scroller, leave]);
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        {...reader}
        id="transcript"
        role="log"
        aria-live="off"
        aria-label={t('chat.log')}
        className="h-full overflow-y-auto overscroll-contain bg-canvas [overflow-anchor:none]"
      >
        <div ref={content} className="mx-auto w-full max-w-[calc(var(--container-read)+3rem)] px-6 pb-6">
          <Virtualizer
            ref={list}
            scrollRef={scroller}
            keepMounted={running === -1 ? [] : [running]}
            bufferSize={find ? 2000 : 600}
          >
            {branch.map((message, index) => (
              <Turn
                key={message.id}
                id={message.id}
                versions={versions.get(message.id) ?? none}
                first={index === 0}
                last={index === branch.length - 1}
                aside={index < outOfView}
                marked={marked.has(message.id)}
              />
            ))}
          </Virtualizer>
        </div>
      </div>
      {away && (
        <Button
          kind="default"
          icon="end"
          onClick={toEnd}
          className="absolute start-1/2 bottom-2 -translate-x-1/2 shadow-2 rtl:translate-x-1/2"
        >
          {t('chat.jumpToEnd')}
        </Button>
      )}
    </div>
  );
}

const none: readonly MessageId[] = [];

type TurnProps = {
  id: MessageId;
  versions: readonly MessageId[];
  first: boolean;
  last: boolean;
  /** Excluded from the context. */
  aside: boolean;
  marked: boolean;
};

/** Subscribes to its own message: while one grows, neither the others nor the list render again. */
const Turn = memo(function Turn({ id, versions, first, last, aside, marked }: TurnProps) {
  const { t } = useTranslation();
  const message = useChat((state) => state.open?.messages.get(id));
  if (!message) return null;
  const user = message.role === 'user';
  return (
    <article
      data-message={id}
      data-aside={aside}
      tabIndex={-1}
      aria-label={user ? t('you') : (message.modelName ?? t('answer'))}
      className={`group/turn outline-none focus-visible:outline-2 ${user ? (first ? 'pt-3 pb-4.5' : 'pt-6 pb-4.5') : first ? 'pt-3' : ''}`}
    >
      <MessageBoundary message={message}>
        {user ? (
          <UserMessage message={message} versions={versions} />
        ) : (
          <Answer message={message} versions={versions} last={last} />
        )}
        {marked && <ContextMarker message={message} />}
      </MessageBoundary>
    </article>
  );
});
