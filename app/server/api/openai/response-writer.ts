import { randomUUID } from 'node:crypto';
import type { AnswerPart, TokenScore } from '../../../core/inference.ts';
import { scoreObject } from './logprobs.ts';

//  An answer as items of a response, and the events of the stream: item added, part added, text
//  deltas, part done, item done.

export type Event = { type: string } & Record<string, unknown>;
export type OutputItem = { id: string; type: string } & Record<string, unknown>;

export type ResponseWriter = {
  /** The completed items so far. */
  readonly output: readonly OutputItem[];
  push(part: AnswerPart): Event[];
  /** Closes open items. An empty answer becomes an empty message. */
  end(status: 'completed' | 'incomplete'): Event[];
};

type Open = { kind: 'thinking' | 'answer'; id: string; text: string; scores: TokenScore[] };

type Call = OutputItem & { name: string; arguments: string };

const idOf = (prefix: string): string => `${prefix}_${randomUUID().replace(/-/g, '')}`;

export function createResponseWriter(): ResponseWriter {
  const output: OutputItem[] = [];
  let open: Open | null = null;
  let call: Call | null = null;

  const place = ({ id }: { id: string }) => ({ item_id: id, output_index: output.length, content_index: 0 });

  function begin(kind: Open['kind']): Event[] {
    open = { kind, id: idOf(kind === 'answer' ? 'msg' : 'rs'), text: '', scores: [] };
    const item = itemOf(open, 'in_progress', []);
    return [
      { type: 'response.output_item.added', output_index: output.length, item },
      { type: 'response.content_part.added', ...place(open), part: partOf(open) },
    ];
  }

  function close(status: 'completed' | 'incomplete'): Event[] {
    if (!open) return [];
    const part = partOf(open);
    const item = itemOf(open, status, [part]);
    const said = { ...place(open), text: open.text };
    const events: Event[] = [
      open.kind === 'answer'
        ? { type: 'response.output_text.done', ...said, logprobs: open.scores.map(scoreObject) }
        : { type: 'response.reasoning_text.done', ...said },
      { type: 'response.content_part.done', ...place(open), part },
      { type: 'response.output_item.done', output_index: output.length, item },
    ];
    output.push(item);
    open = null;
    return events;
  }

  function say({ kind, text, scores = [] }: Extract<AnswerPart, { type: 'text' }>): Event[] {
    const events = open?.kind === kind ? [] : [...close('completed'), ...begin(kind)];
    if (!open) return events;
    open.text += text;
    open.scores.push(...scores);
    const delta = { ...place(open), delta: text };
    events.push(
      kind === 'answer'
        ? { type: 'response.output_text.delta', ...delta, logprobs: scores.map(scoreObject) }
        : { type: 'response.reasoning_text.delta', ...delta },
    );
    return events;
  }

  function beginCall({ id: call_id, name }: Extract<AnswerPart, { type: 'call-begin' }>): Event[] {
    const closed = close('completed');
    call = { id: idOf('fc'), type: 'function_call', call_id, name, arguments: '', status: 'in_progress' };
    return [...closed, { type: 'response.output_item.added', output_index: output.length, item: call }];
  }

  function argue(delta: string): Event[] {
    if (!call) return [];
    call = { ...call, arguments: call.arguments + delta };
    const where = { item_id: call.id, output_index: output.length };
    return [{ type: 'response.function_call_arguments.delta', ...where, delta }];
  }

  function endCall(cut: boolean): Event[] {
    if (!call) return [];
    const item = { ...call, status: cut ? 'incomplete' : 'completed' };
    const output_index = output.length;
    const { name, arguments: given } = call;
    output.push(item);
    call = null;
    return [
      { type: 'response.function_call_arguments.done', item_id: item.id, output_index, name, arguments: given },
      { type: 'response.output_item.done', output_index, item },
    ];
  }

  return {
    output,
    push(part) {
      if (part.type === 'text') return say(part);
      if (part.type === 'call-begin') return beginCall(part);
      if (part.type === 'call-arguments') return argue(part.text);
      return part.type === 'call-end' ? endCall(part.cut) : [];
    },
    end(status) {
      const answered = open?.kind === 'answer' || output.some(({ type }) => type !== 'reasoning');
      if (answered || status === 'incomplete') return close(status);
      return [...close(status), ...begin('answer'), ...close(status)];
    },
  };
}

const partOf = ({ kind, text, scores }: Open) =>
  kind === 'answer'
    ? { type: 'output_text', text, annotations: [], logprobs: scores.map(scoreObject) }
    : { type: 'reasoning_text', text };

const itemOf = ({ kind, id }: Open, status: string, content: object[]): OutputItem =>
  kind === 'answer'
    ? { id, type: 'message', role: 'assistant', status, content }
    : { id, type: 'reasoning', status, summary: [], content };
