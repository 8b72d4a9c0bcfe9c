import type { Event, OutputItem } from './response-writer.ts';

//  A stored response as the events of a stream, each text in one piece. The same response gives the same numbers every time,
//  so that a client whose connection broke goes on behind the last event that it has of a replay.

type Stored = { status: string; output: readonly OutputItem[] };
type Part = { type: string; text: string; logprobs?: unknown[] };

export function replayOf<Response extends Stored>(response: Response): (Event & { sequence_number: number })[] {
  const begun = { ...response, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  const events: Event[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...response.output.flatMap(eventsOf),
    { type: `response.${response.status}`, response },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function eventsOf(item: OutputItem, output_index: number): Event[] {
  const place = { item_id: item.id, output_index };
  const begun = {
    ...item,
    status: 'in_progress',
    ...(item.type === 'function_call' ? { arguments: '' } : { content: [] }),
  };
  return [
    { type: 'response.output_item.added', output_index, item: begun },
    ...(item.type === 'function_call' ? argued(item, place) : said(item, place)),
    { type: 'response.output_item.done', output_index, item },
  ];
}

function argued({ name, arguments: given }: OutputItem, place: object): Event[] {
  const kind = 'response.function_call_arguments';
  return [
    ...(given === '' ? [] : [{ type: `${kind}.delta`, ...place, delta: given }]),
    { type: `${kind}.done`, ...place, name, arguments: given },
  ];
}

function said({ type, content }: OutputItem, place: object): Event[] {
  const kind = type === 'message' ? 'response.output_text' : 'response.reasoning_text';
  return (content as Part[]).flatMap((part, content_index): Event[] => {
    const where = { ...place, content_index };
    const { text, logprobs } = part;
    const scored = logprobs && { logprobs };
    return [
      { type: 'response.content_part.added', ...where, part: { ...part, text: '', ...(logprobs && { logprobs: [] }) } },
      ...(text === '' ? [] : [{ type: `${kind}.delta`, ...where, delta: text, ...scored }]),
      { type: `${kind}.done`, ...where, text, ...scored },
      { type: 'response.content_part.done', ...where, part },
    ];
  });
}
