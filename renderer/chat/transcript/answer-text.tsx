import { useMemo } from 'react';
import type { Message } from '../../../app/protocol/index.ts';
import type { TurnProgress } from '../../stores/chat/reducers.ts';
import { Markdown } from '../../ui/markdown/markdown.tsx';
import { withRemarks } from '../../ui/markdown/references.ts';
import { Citations } from '../sources/citations.tsx';
import { type Attached, attachedChips, type Remark, remarksOf } from '../sources/grounding.ts';
import { marksIn, type Segment, segmentsOf } from './answer-segments.ts';
import { CallBeingWritten, ToolBlock } from './tool-block.tsx';
import { Waiting } from './waiting.tsx';

const none: readonly Remark[] = [];
const noChips: readonly Attached[] = [];

/** The text of an answer, with its tool calls in place. */
export function AnswerText({ message, live }: { message: Message; live: TurnProgress | null }) {
  const writing = message.state.status === 'running';
  const remarks = useMemo(() => (writing ? none : remarksOf(message.grounding)), [writing, message.grounding]);
  const chips = useMemo(() => (writing ? noChips : attachedChips(message)), [writing, message]);
  const segments = segmentsOf(message);
  const textIn = (segment: Segment) =>
    withRemarks(message.text.slice(segment.from, segment.to), marksIn(remarks, segment), marksIn(chips, segment));
  const calling = writing ? (live?.calling ?? null) : null;
  const still = message.toolUses.some(({ state }) => state.status === 'running');
  const silent = message.text === '' && message.thinking === '' && message.toolUses.length === 0;
  return (
    <div dir="auto" data-text data-passages className={message.thinking !== '' && message.text !== '' ? 'mt-2' : ''}>
      <Citations message={message}>
        {segments.map((segment, index) => {
          const last = index === segments.length - 1;
          return (
            <div key={index}>
              {(segment.to > segment.from || (last && segments.length === 1)) && (
                <div className="prose">
                  <Markdown text={textIn(segment)} growing={writing && last && !still && calling === null} />
                </div>
              )}
              {segment.uses.length > 0 && (
                <ul data-apart className="my-2 flex flex-col gap-1.5">
                  {segment.uses.map((use) => (
                    <li key={use.id}>
                      <ToolBlock message={message} use={use} />
                    </li>
                  ))}
                </ul>
              )}
            </div>
          );
        })}
      </Citations>
      {calling !== null && <CallBeingWritten characters={calling} />}
      {writing && silent && calling === null && !live?.reading && <Waiting message={message} />}
    </div>
  );
}
