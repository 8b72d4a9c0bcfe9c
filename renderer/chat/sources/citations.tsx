import { HoverCard } from 'radix-ui';
import { type MouseEvent, type ReactNode, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Grounding, Message, Source } from '../../../app/protocol/index.ts';
import { aboutLocation, whereOf } from '../../lib/location.ts';
import { holdLine } from '../../lib/scroll-anchor.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useDocuments } from '../../stores/documents/store.ts';
import { Icon } from '../../ui/icon.tsx';
import { ReferenceProvider } from '../../ui/markdown/reference-context.ts';
import { Tooltip } from '../../ui/tooltip.tsx';
import { openSoon } from '../../viewer/viewer.tsx';

const look =
  'inline-grid h-4.25 min-w-4.25 flex-none place-items-center rounded-[5px] px-1 text-2xs leading-none font-semibold tabular-nums';

export const chipLook = (current: boolean): string => `${look} ${current ? 'bg-marker text-fg' : 'bg-hover text-fg-2'}`;

/** Adds chips to the numbers in an answer, and remarks to its sentences. */
export function Citations({ message, children }: { message: Message; children: ReactNode }) {
  const { grounding, id } = message;
  const current = useChat((state) => (state.sources?.messageId === id ? state.sources.number : null));
  const references = useMemo(() => {
    if (!grounding) return null;
    return {
      cite: (number: number) => {
        const source = grounding.sources.find((one) => one.number === number);
        return source ? <Chip source={source} messageId={id} current={number === current} /> : null;
      },
      remark: (index: number) => <SupportMark grounding={grounding} index={index} messageId={id} />,
    };
  }, [grounding, id, current]);
  return <ReferenceProvider value={references}>{children}</ReferenceProvider>;
}

type ChipProps = { source: Source; messageId: Message['id']; current: boolean };

function Chip({ source, messageId, current }: ChipProps) {
  const { t } = useTranslation();
  const button = useRef<HTMLButtonElement>(null);
  const [previewed, setPreviewed] = useState(false);
  // Pointer and focus each start a delay before opening, and leaving ends only one of them: a preview that was left stays closed.
  const preview = (open: boolean) => setPreviewed(open && button.current?.matches(':hover, :focus-visible') === true);
  const show = (event: MouseEvent<HTMLElement>) => {
    holdLine(event.currentTarget);
    actions.showSource(messageId, source.number);
  };
  const soon = () => openSoon(useDocuments.getState().documents.get(source.documentId));
  return (
    <HoverCard.Root open={previewed} onOpenChange={preview} openDelay={300} closeDelay={100}>
      <HoverCard.Trigger asChild>
        <button
          ref={button}
          type="button"
          aria-label={t('sources.chip', { number: source.number, where: whereOf(source.name, source.location, t) })}
          aria-pressed={current}
          data-source={source.number}
          onPointerEnter={soon}
          onFocus={soon}
          onClick={show}
          className={`mx-px align-[1.5px] ${chipLook(current)} ${current ? '' : 'hover:bg-select'}`}
        >
          {source.number}
        </button>
      </HoverCard.Trigger>
      <HoverCard.Portal>
        <HoverCard.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-40 w-80 max-w-[calc(100vw-2rem)] rounded-lg bg-raised px-3.5 py-3 text-xs shadow-2 animate-enter"
        >
          <p className="flex items-baseline gap-2">
            <bdi className="min-w-0 flex-1 truncate text-sm font-medium">{source.name}</bdi>
            <span className="text-fg-3 tabular-nums">{aboutLocation(source.location, t)}</span>
          </p>
          <p className="mt-1.5 line-clamp-5 text-fg-2">{source.text}</p>
        </HoverCard.Content>
      </HoverCard.Portal>
    </HoverCard.Root>
  );
}

type SupportMarkProps = { grounding: Grounding; index: number; messageId: Message['id'] };

/** The remark on a sentence, after it: an open or half circle in the colour of captions, since ink, pencil and marker have
 *  other meanings. */
function SupportMark({ grounding, index, messageId }: SupportMarkProps) {
  const { t } = useTranslation();
  const support = grounding.support[index];
  if (!support || support.level === 'supported') return null;
  const { level, source } = support;
  const text = level === 'weak' && source !== null ? t('support.weakIn', { number: source }) : t(`support.${level}`);
  return (
    <Tooltip text={text}>
      <button
        type="button"
        aria-label={text}
        aria-disabled={source === null}
        data-support={level}
        onClick={(event) => {
          if (source === null) return;
          holdLine(event.currentTarget);
          actions.showSource(messageId, source);
        }}
        className="mx-0.5 inline-grid size-4.25 place-items-center rounded-xs align-[-2px] text-fg-3 hover:bg-hover hover:text-fg-2"
      >
        <Icon name={level === 'weak' ? 'half' : 'open'} size={14} />
      </button>
    </Tooltip>
  );
}
