import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Trans, useTranslation } from 'react-i18next';
import type { LoopEvidence, MessageId, PauseAction, TurnId } from '../../../../app/protocol/index.ts';
import { core } from '../../../bridge.ts';
import { useFormats } from '../../../i18n.ts';
import { useNow } from '../../../lib/use-now.ts';
import type { TurnProgress } from '../../../stores/chat/reducers.ts';
import { writtenFor } from '../../../stores/chat/speed.ts';
import { actions, useChat } from '../../../stores/chat/store.ts';
import { useSettings } from '../../../stores/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { quoteOf, roundTime, savedTime, stripOf } from './loop-evidence.ts';

type LoopCardProps = { messageId: MessageId; turnId: TurnId; evidence: LoopEvidence; live: TurnProgress | null };

/** Loops in one answer after which the model is unlikely to recover. */
const OFTEN = 3;

/** What repeated, how often, what it cost and would have cost, and what to do. */
export function LoopCard({ messageId, turnId, evidence, live }: LoopCardProps) {
  const { t } = useTranslation();
  const samples = useChat((state) => state.samples.get(messageId));
  const time = useMemo(() => savedTime(evidence, writtenFor(samples)), [evidence, samples]);
  const pause = live?.pause ?? null;
  const inAnswer = evidence.where === 'answer';
  const choices = pause?.choices ?? [inAnswer ? 'stop' : 'answer-now', 'rewind', 'keep-going', 'loop-guard-off'];
  const suggested = pause?.suggested ?? choices[0];
  const countdown = useCountdown(turnId, pause !== null);
  return (
    <section
      role="alert"
      aria-label={t('loop.label')}
      onPointerMove={countdown.stop}
      onKeyDown={countdown.stop}
      className={`rounded-lg bg-raised p-4 shadow-2 ${inAnswer ? 'mt-3.5' : 'text-md'}`}
    >
      <div className="flex items-start gap-3">
        <Icon name="loop" size={20} className="mt-px text-warn-text" />
        <div className="min-w-0 flex-1">
          <div className="text-md font-semibold">{t(inAnswer ? 'loop.answer' : 'loop.thinking')}</div>
          <div className="mt-0.5 text-fg-2">
            <Sentence evidence={evidence} /> {t('loop.safe')}
          </div>
        </div>
      </div>
      <Quote evidence={evidence} />
      <StripOf evidence={evidence} time={time} />
      {evidence.times >= OFTEN && (
        <div className="mt-3.5 flex flex-wrap items-center gap-2 text-fg-2">
          {t('loop.otherModel')}
          <Button kind="link" onClick={() => actions.setOverlay({ kind: 'model-picker' })}>
            {t('loop.chooseModel')}
          </Button>
        </div>
      )}
      <div className="mt-4.5 flex flex-wrap items-center gap-2">
        {choices.map((choice) => (
          <ChoiceButton
            key={choice}
            choice={choice}
            turnId={turnId}
            suggested={choice === suggested}
            countdown={countdown}
          />
        ))}
      </div>
    </section>
  );
}

type ChoiceButtonProps = { choice: PauseAction; turnId: TurnId; suggested: boolean; countdown: Countdown };

function ChoiceButton({ choice, turnId, suggested, countdown }: ChoiceButtonProps) {
  const { t } = useTranslation();
  const last = choice === 'loop-guard-off';
  return (
    <Button
      kind={suggested ? 'primary' : last ? 'quiet' : 'default'}
      {...(choice === 'rewind' && { icon: 'rewind' })}
      className={last ? 'ms-auto' : ''}
      onClick={() => void actions.decide(turnId, choice)}
    >
      {t(`pause.choice.${choice}`)}
      {suggested && countdown.counts && <Ring left={countdown.left} />}
    </Button>
  );
}

/** Keeps its space when stopped, so that the buttons beside it do not move under the pointer. */
function Ring({ left }: { left: number | null }) {
  return (
    <svg
      width={14}
      height={14}
      viewBox="0 0 14 14"
      fill="none"
      strokeWidth={2}
      aria-hidden
      className={`-rotate-90 ${left === null ? 'invisible' : ''}`}
    >
      <circle cx={7} cy={7} r={5.5} stroke="currentColor" opacity={0.35} />
      <circle
        cx={7}
        cy={7}
        r={5.5}
        stroke="currentColor"
        pathLength={1}
        strokeDasharray={1}
        strokeDashoffset={1 - (left ?? 0)}
      />
    </svg>
  );
}

/** `counts`: the countdown has started. `left`: remaining share of the time; null once the user is present. */
type Countdown = { counts: boolean; left: number | null; stop: () => void };

/** A user who opens a paused chat counts as present. */
function useCountdown(turnId: TurnId, witnessed: boolean): Countdown {
  const guard = useSettings((state) => state.values.loopGuard);
  const [begun] = useState(() => performance.now());
  const [counts] = useState(witnessed && guard.action === 'ask' && guard.waitSeconds > 0);
  const [stopped, setStopped] = useState(!counts);
  const now = useNow(!stopped);
  useEffect(() => {
    if (!witnessed) void core.call('turns.cancelAutoDecision', { turnId }).catch(() => {});
  }, [turnId, witnessed]);
  const stop = () => {
    if (stopped) return;
    setStopped(true);
    void core.call('turns.cancelAutoDecision', { turnId }).catch(() => {});
  };
  const left = stopped ? null : Math.max(0, 1 - (now - begun) / (guard.waitSeconds * 1000));
  return { counts, left, stop };
}

function Sentence({
  evidence: { kind, repeats: copies, periodTokens: period, times, spentTokens },
}: {
  evidence: LoopEvidence;
}) {
  const { t } = useTranslation();
  const formats = useFormats();
  const count = kind === 'entries' ? copies : kind === 'collapse' ? spentTokens : period;
  return (
    <>
      {times > 1 && `${times === 2 ? t('loop.twice') : t('loop.again', { times: formats.exact(times) })} `}
      {t(`loop.${kind}`, { count, tokens: formats.exact(count), times: formats.exact(copies) })}
    </>
  );
}

function Quote({ evidence }: { evidence: LoopEvidence }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const quote = quoteOf(evidence);
  const times = formats.exact(evidence.repeats);
  return (
    <blockquote className="relative mt-3.5 max-h-45 overflow-y-auto rounded-md bg-pencil-soft py-2.5 ps-3.5 pe-18 text-sm leading-5 whitespace-pre-line text-fg-2 wrap-anywhere dark:bg-sunken">
      {quote === '' ? t('loop.blank') : quote}
      {evidence.kind !== 'entries' && (
        <span className="absolute end-3.5 top-1/2 -translate-y-1/2 text-xl font-semibold text-warn-text tabular-nums">
          <span aria-hidden>×{times}</span>
          <span className="sr-only">{t('loop.times', { times })}</span>
        </span>
      )}
    </blockquote>
  );
}

function StripOf({ evidence, time }: { evidence: LoopEvidence; time: number | null }) {
  const formats = useFormats();
  const { fresh, repeated, saved, marks } = stripOf(evidence);
  return (
    <div className="mt-4 flex gap-0.5 text-xs text-fg-3 tabular-nums">
      <Part grow={fresh} bar={<span className="block h-3.5 rounded-s-xs rounded-e-[2px] bg-pencil-line" />}>
        <Counted sentence="loop.new" values={{ tokens: formats.exact(fresh) }} />
      </Part>
      <Part grow={repeated} bar={<Marks count={marks} />} warn>
        <Counted sentence="loop.repeated" values={{ tokens: formats.exact(repeated) }} className="" />
      </Part>
      {saved > 0 && (
        <Part
          grow={saved}
          bar={<span className="block h-3.5 rounded-s-[2px] rounded-e-xs border border-dashed border-edge" />}
          className="text-end"
        >
          <Counted
            sentence={time === null ? 'loop.saved' : 'loop.savedTime'}
            values={{ tokens: formats.exact(saved), time: formats.duration(roundTime(time ?? 0)) }}
          />
        </Part>
      )}
    </div>
  );
}

type CountedProps = { sentence: 'loop.new' | 'loop.repeated' | 'loop.saved' | 'loop.savedTime'; className?: string };

/** A sentence whose number is set in bold. */
const Counted = ({
  sentence,
  values,
  className = 'text-fg-2',
}: CountedProps & { values: { tokens: string; time?: string } }) => (
  <Trans i18nKey={sentence} values={values} components={{ b: <b className={`font-semibold ${className}`} /> }} />
);

type PartProps = { grow: number; bar: ReactNode; children: ReactNode; warn?: boolean; className?: string };

/** To scale, but never narrower than its words. */
function Part({ grow, bar, children, warn = false, className = '' }: PartProps) {
  return (
    <div className={`min-w-fit basis-0 ${className}`} style={{ flexGrow: Math.max(1, grow) }}>
      {bar}
      <div className={`mt-1.5 whitespace-nowrap ${warn ? 'text-warn-text' : ''}`}>{children}</div>
    </div>
  );
}

const Marks = ({ count }: { count: number }) => (
  <span className="flex h-3.5 gap-0.5">
    {Array.from({ length: count }, (_, at) => (
      <span key={at} className="min-w-0 flex-1 rounded-[2px] bg-warn" />
    ))}
  </span>
);

/** What a decided loop leaves in the answer: one line, and its evidence behind "Show". */
export function LoopLine({ evidence }: { evidence: LoopEvidence }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <div className="mt-2 text-xs text-fg-3">
      <div className="flex items-center gap-2">
        <Icon name="loop" size={14} className="text-warn-text" />
        <span className="min-w-0 truncate">
          {evidence.decided && <b className="font-medium text-fg-2">{t(`loop.decided.${evidence.decided}`)} </b>}
          <Sentence evidence={evidence} />
        </span>
        <Button kind="link" className="text-xs" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t(open ? 'loop.hide' : 'loop.show')}
        </Button>
      </div>
      {open && (
        <>
          <Quote evidence={evidence} />
          <StripOf evidence={evidence} time={null} />
        </>
      )}
    </div>
  );
}
