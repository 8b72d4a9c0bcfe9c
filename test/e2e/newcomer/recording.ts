import { readFileSync } from 'node:fs';
import { strFromU8, unzipSync } from 'fflate';

//  A trace of Playwright as a page that a person reads: when, what was done, what was seen.

type TraceEvent = {
  type: string;
  callId?: string;
  parentId?: string;
  startTime?: number;
  title?: string;
  method?: string;
  params?: { selector?: string; value?: string; text?: string; key?: string };
};

export const SEEN = 'Seen: ';

const WORDS: Readonly<Record<string, (params: NonNullable<TraceEvent['params']>) => string>> = {
  goto: () => 'opens the address that Longhand printed',
  reload: () => 'reloads the page',
  click: ({ selector }) => `clicks ${placeOf(selector)}`,
  fill: ({ selector, value }) => `types “${value}” into ${placeOf(selector)}`,
  press: ({ key }) => `presses ${key}`,
  keyboardPress: ({ key }) => `presses ${key}`,
};

/** `internal:role=button[name="Ask"s]` is the button “Ask”; of a chain the last part that has a name. */
function placeOf(selector = ''): string {
  const parts = selector.split(' >> ').map((part) => {
    const [, role, name, pattern] = /^internal:role=(\w+)(?:\[name=(?:"(.*)"[is]?|\/(.*)\/i?)\])?$/.exec(part) ?? [];
    const called = name ?? pattern?.replace(/\\(.)|[\^$]/g, '$1');
    return role ? (called ? `the ${role} “${called}”` : `the ${role}`) : null;
  });
  return parts.filter((part) => part !== null).at(-1) ?? (selector === '#composer' ? 'the message box' : selector);
}

const isStep = ({ method, title }: TraceEvent) => method === 'tracingGroup' && !title?.startsWith(SEEN);

export function logOf(trace: string): string[] {
  const file = Object.entries(unzipSync(readFileSync(trace))).find(([name]) => name.endsWith('trace.trace'));
  if (!file) throw new Error(`[recording] ${trace} holds no trace.trace`);
  const events = strFromU8(file[1])
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TraceEvent)
    .filter(({ type }) => type === 'before');
  const first = events.find(isStep)?.startTime ?? 0;
  return events.flatMap((event) => {
    const at = `${(((event.startTime ?? 0) - first) / 1000).toFixed(1)} s`.padStart(7);
    if (isStep(event)) return ['', `${at}  ${event.title}`];
    if (event.title?.startsWith(SEEN)) return [`         sees: ${event.title.slice(SEEN.length)}`];
    const said = WORDS[event.method ?? '']?.(event.params ?? {});
    return said ? [`${at}  ${said}`] : [];
  });
}
