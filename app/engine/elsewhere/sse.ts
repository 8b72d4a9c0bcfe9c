//  Events of a server (https://html.spec.whatwg.org/multipage/server-sent-events.html), of which only the data matters here.

/** Characters of one event. */
export const MAX_EVENT = 4 * 1024 * 1024;

/** The data of each event as it ends. @throws `tooMuch()` when one does not end in time */
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
    // The last line may go on; a carriage return at the end may be the first half of a line break.
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
  // A server that closes without an empty line has said it all the same.
  const last = rest.startsWith('data:') ? [...data, rest.slice(5).trim()] : data;
  if (last.length > 0) yield last.join('\n');
}
