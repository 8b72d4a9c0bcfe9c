import type { Verdict } from './run.ts';

export interface LoopRow {
  readonly group: string;
  readonly all: number;
  readonly found: number;
  readonly cards: number;
  readonly inTime: number;
  /** ... of which before it went round to the letter. */
  readonly early: number;
  /** Copies when it was found, at the median. */
  readonly copies: number | null;
}

export interface SoundRow {
  readonly group: string;
  readonly place: string;
  readonly tokens: number;
  readonly cards: number;
  readonly quiet: number;
  /** Texts, and those of them with a card. */
  readonly texts: number;
  readonly carded: number;
}

export interface Table {
  readonly loops: readonly LoopRow[];
  readonly sound: readonly SoundRow[];
}

const groupBy = (verdicts: readonly Verdict[], key: (verdict: Verdict) => string) => [...Map.groupBy(verdicts, key)];

export function tally(verdicts: readonly Verdict[]): Table {
  const loops = groupBy(
    verdicts.filter(({ loop }) => loop),
    ({ group }) => group,
  ).map(([group, rows]) => {
    const copies = rows.flatMap(({ copies }) => (copies === null ? [] : [copies])).toSorted((a, b) => a - b);
    return {
      group,
      all: rows.length,
      found: rows.filter(({ found }) => found).length,
      cards: rows.filter(({ found }) => found === 'card').length,
      inTime: rows.filter(({ found, late }) => found && late === 0).length,
      early: rows.filter(({ early, found }) => early && found).length,
      copies: copies[Math.floor(copies.length / 2)] ?? null,
    };
  });
  const sound = groupBy(
    verdicts.filter(({ loop }) => !loop),
    ({ group, place }) => `${group}\t${place}`,
  ).map(([key, rows]) => ({
    group: key.split('\t')[0] as string,
    place: key.split('\t')[1] as string,
    texts: rows.length,
    carded: rows.filter(({ alarms }) => alarms.some(({ degree }) => degree === 'card')).length,
    tokens: rows.reduce((sum, row) => sum + row.tokens, 0),
    cards: rows.reduce((sum, { alarms }) => sum + alarms.filter(({ degree }) => degree === 'card').length, 0),
    quiet: rows.reduce((sum, { alarms }) => sum + alarms.filter(({ degree }) => degree === 'quiet').length, 0),
  }));
  return { loops, sound };
}

const percent = (part: number, all: number) => `${((100 * part) / all).toFixed(0)} %`;
const perMillion = (count: number, tokens: number) => ((count * 1e6) / tokens).toFixed(1);

export function markdown({ loops, sound }: Table): string {
  const lines = [
    '| loops | all | found | as a card | in time | (early) | copies (median) |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...loops.map(
      ({ group, all, found, cards, inTime, early, copies }) =>
        `| ${group} | ${all} | ${found} (${percent(found, all)}) | ${cards} | ${inTime} (${percent(inTime, all)}) | ${early} | ${copies ?? '–'} |`,
    ),
    '',
    '| sound text | as | texts | with a card | tokens | cards | per million | quiet lines | per million |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...sound.map(
      ({ group, place, texts, carded, tokens, cards, quiet }) =>
        `| ${group} | ${place} | ${texts} | ${carded} | ${tokens} | ${cards} | ${perMillion(cards, tokens)} | ${quiet} | ${perMillion(quiet, tokens)} |`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}
