//  Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html); only `data` fields are used.

/** Characters of one event. */
export const MAX_EVENT = 4 * 1024 * 1024;

/** Yields the data of each event. @throws `tooMuch()` if one is too long */
export async function* eventsIn(
  pieces: AsyncIterable<Uint8Array>,
  tooMuch: () => Error,
): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let held = 0;
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    // The last line may be incomplete; a carriage return at the end may be half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        [data, held] = [[], 0];
      } else if (line.startsWith('data:')) {
        const text = line.slice(line[5] === ' ' ? 6 : 5);
        held += text.length;
        data.push(text);
      }
      if (held > MAX_EVENT) throw tooMuch();
    }
    if (rest.length > MAX_EVENT) throw tooMuch();
  }
  // A server may close without the final empty line.
  const last = rest.startsWith('data:') ? [...data, rest.slice(5).trim()] : data;
  if (last.length > 0) yield last.join('\n');
}
