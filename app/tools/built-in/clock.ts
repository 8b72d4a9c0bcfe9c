import { type Tool, ToolError } from '../tool.ts';

/** The model's only way to know what day it is. */
export const clock = (now: () => number): Tool => ({
  name: 'clock',
  builtIn: true,
  description: 'The current date, time, weekday and time zone of the user. With "zone" the same moment elsewhere.',
  parameters: {
    type: 'object',
    properties: {
      zone: {
        type: 'string',
        description: 'An IANA time zone, for example "Asia/Tokyo". Left out: where the user is.',
      },
    },
  },
  run({ zone }) {
    const wanted = typeof zone === 'string' && zone.trim() !== '' ? zone.trim() : undefined;
    return timeIn(new Date(now()), wanted);
  },
});

function timeIn(date: Date, timeZone: string | undefined): string {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-GB', { ...PARTS, timeZone });
  } catch {
    throw new ToolError('arguments', `"${timeZone}" is no time zone; one like "Europe/Berlin" is needed`);
  }
  const part = Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]));
  const zone = format.resolvedOptions().timeZone;
  const day = `${part.year}-${part.month}-${part.day}`;
  return `${part.weekday}, ${day}, ${part.hour}:${part.minute}:${part.second} (${zone}, ${part.timeZoneName})`;
}

const PARTS = {
  weekday: 'long',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'longOffset',
} as const;
