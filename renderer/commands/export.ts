import type { TFunction } from 'i18next';
import {
  type Attachment,
  type AttachmentId,
  type Location,
  type Message,
  type MessageId,
  quotedIn,
  quoteStandsAlone,
  type StatsSample,
} from '../../app/protocol/index.ts';
import { whereOf } from '../lib/location.ts';
import { argumentsLine } from '../lib/tool-arguments.ts';
import { figuresOf, seriesOf } from '../stores/chat/speed.ts';
import type { Formats } from '../ui/format.ts';

export type ExportWords = {
  you: string;
  answer: string;
  /** "{{speed}}, first token after {{first}}, …": the line below an answer. */
  figures: (figures: { speed: string; first: string; read: string; written: string }) => string;
  quote: Quoting;
};

/** "From the source: “…” (report.pdf, p. 3)". */
export type Quoting = (quote: { text: string; name: string; location: Location | null }) => string;

export const quotingIn =
  (t: TFunction): Quoting =>
  ({ text, name, location }) =>
    t('sources.quotedFrom', { text, where: whereOf(name, location, t) });

/** The answer with its quotes below. */
export function answerAsMarkdown(message: Message, quote: Quoting, shown: Shown = new Map()): string {
  const quoted = quotedIn(message.grounding);
  if (!quoted) return textWithCalls(message, shown);
  const { text, source, location } = quoted;
  const line = quote({ text: asItStands(text), name: asItStands(source.name), location });
  return quoteStandsAlone(message) ? `> ${line}` : `${textWithCalls(message, shown)}\n\n> ${line}`;
}

/** Calls are in place, as lists with their results in fences that the results cannot close. */
function textWithCalls({ text, toolUses }: Message, shown: Shown): string {
  let out = '';
  let at = 0;
  for (const use of toolUses) {
    out += text.slice(at, Math.max(at, use.textAt));
    at = Math.max(at, use.textAt);
    if (out !== '' && !out.endsWith('\n\n')) out += '\n\n';
    const longest = (use.result?.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
    const fence = '`'.repeat(longest + 1);
    out += `- **${use.name}** \`${argumentsLine(use.arguments).replaceAll('`', '´')}\`\n\n`;
    if (use.result !== null) out += `${fence}\n${use.result}\n${fence}\n\n`;
    for (const line of attached(use.pictures, shown)) out += `${line}\n\n`;
  }
  return (out + text.slice(at)).trimEnd();
}

/** Escapes Markdown and HTML, and joins lines. */
const asItStands = (text: string): string => text.replace(/[\\`*[\]<]/g, '\\$&').replace(/\s+/g, ' ');

type Samples = ReadonlyMap<MessageId, readonly StatsSample[]>;

/** Addresses of previews, by attachment. */
export type Shown = ReadonlyMap<AttachmentId, string>;

/** Pictures are embedded if available; other files are named. */
const attached = (files: readonly Attachment[], shown: Shown): string[] =>
  files.map(({ id, name }) => {
    const address = shown.get(id);
    return address === undefined ? `- ${asItStands(name)}` : `![${asItStands(name)}](${address})`;
  });

/** The shown branch as one Markdown text, with its pictures and the speed of every answer. */
export function chatAsMarkdown(
  title: string,
  branch: readonly Message[],
  samples: Samples,
  formats: Formats,
  words: ExportWords,
  shown: Shown = new Map(),
): string {
  const turns = branch.map((message) => {
    if (message.role === 'user') {
      const said = [`## ${words.you}`, ...attached(message.attachments, shown), message.text];
      return said.filter((part) => part !== '').join('\n\n');
    }
    const parts = [`## ${message.modelName ?? words.answer}`, answerAsMarkdown(message, words.quote, shown)];
    const speed = speedOf(message, samples.get(message.id) ?? [], formats, words);
    return [...parts, ...(speed === null ? [] : [speed])].join('\n\n');
  });
  return [`# ${title}`, ...turns].join('\n\n');
}

/** The chart in one line of text, and its figures. */
function speedOf(
  message: Message,
  samples: readonly StatsSample[],
  formats: Formats,
  words: ExportWords,
): string | null {
  const { timings, usage } = message;
  if (!timings || !usage) return null;
  const { decode } = figuresOf(message, samples);
  const line = words.figures({
    speed: formats.speed(timings.tokensPerSecond ?? decode?.median ?? null),
    first: formats.duration(timings.firstTokenMs),
    read: formats.exact(usage.promptTokens),
    written: formats.exact(usage.thinkingTokens + usage.answerTokens),
  });
  const chart = barsOf(seriesOf(samples).speeds);
  return `> ${chart === '' ? '' : `\`${chart}\` `}${line}`;
}

const BARS = '▁▂▃▄▅▆▇█';
const WIDTH = 32;

/** Speeds as a row of bars, a gap where nothing was written. */
export function barsOf(speeds: readonly (number | null)[]): string {
  const top = speeds.reduce<number>((most, speed) => Math.max(most, speed ?? 0), 0);
  if (top === 0) return '';
  const count = Math.min(WIDTH, speeds.length);
  const bars = Array.from({ length: count }, (_, index) => {
    const part = speeds.slice(
      Math.floor((index * speeds.length) / count),
      Math.floor(((index + 1) * speeds.length) / count),
    );
    const known = part.filter((speed) => speed !== null);
    if (known.length === 0) return ' ';
    const mean = known.reduce((sum, speed) => sum + speed, 0) / known.length;
    return BARS[Math.min(BARS.length - 1, Math.floor((mean / top) * BARS.length))];
  });
  return bars.join('').trim();
}
