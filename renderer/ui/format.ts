/** Figures as design-language §8 writes them, through Intl. Units follow a no-break space: the narrow one of Inter is an
 *  eighth of an em, and reads as none. */
export type Formats = ReturnType<typeof createFormats>;

const SPACE = '\u00a0';
const MINUS = '\u2212';
export const MISSING = '\u2013';
export const TOKENS_PER_SECOND = 'tok/s';

export type MemoryUnit = { name: 'MB' | 'GB'; bytes: number };

/** What memory is counted in where several values share one scale. */
export const memoryUnitOf = (maxBytes: number): MemoryUnit =>
  maxBytes < 0.0995 * 2 ** 30 ? { name: 'MB', bytes: 2 ** 20 } : { name: 'GB', bytes: 2 ** 30 };

/** The user's regional variant of the app's language: en-GB dates differ from those of the United States. */
export function localeFor(language: string, preferred: readonly string[]): string {
  return preferred.find((one) => one.split('-')[0] === language) ?? language;
}

export function createFormats(language: string) {
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const one = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  /** 20 and 20.5, never 20.0. */
  const upToOne = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const upToTwo = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  const three = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 });
  const two = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const clock = new Intl.DateTimeFormat(language, { timeStyle: 'short' });
  const clockSeconds = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
  const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' });
  const dayOfYear = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const unit = (figure: string, name: string) => `${figure}${SPACE}${name}`;

  return {
    exact: (count: number) => whole.format(count),
    /** A measure without a unit: 0.0793, 26.7. */
    figure: (value: number) => three.format(value),
    billions: (count: number) => upToTwo.format(count / 1e9),
    tokens(count: number) {
      if (count < 10_000) return whole.format(count);
      return `${(count < 99_950 ? upToOne : whole).format(count / 1000)}k`;
    },
    /** Context sizes are mostly powers of two: 32,768 is called 32k. */
    contextSize(count: number) {
      if (count >= 1024 && count % 1024 === 0) return `${whole.format(count / 1024)}k`;
      return this.tokens(count);
    },
    speed: (perSecond: number | null) =>
      perSecond === null || !Number.isFinite(perSecond)
        ? MISSING
        : unit((perSecond < 99.95 ? one : whole).format(perSecond), TOKENS_PER_SECOND),
    /** A tick of an axis: 50, not 50.0. */
    speedTick: (perSecond: number) => unit(upToOne.format(perSecond), TOKENS_PER_SECOND),
    duration(ms: number) {
      if (!Number.isFinite(ms) || ms < 0) return MISSING;
      if (ms < 99.5) return unit(whole.format(ms), 'ms');
      if (ms < 995) return unit(two.format(ms / 1000), 's');
      if (ms < 9950) return unit(upToOne.format(ms / 1000), 's');
      if (ms < 59_500) return unit(whole.format(ms / 1000), 's');
      const seconds = Math.round(ms / 1000);
      if (seconds < 3600) return pair(Math.floor(seconds / 60), 'min', seconds % 60, 's');
      const minutes = Math.round(seconds / 60);
      return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
    },
    /** Files: decimal, as a file manager counts. */
    fileSize(bytes: number) {
      if (bytes < 1000) return unit(whole.format(bytes), 'B');
      if (bytes < 999_500) return unit(whole.format(bytes / 1e3), 'kB');
      if (bytes < 999_500_000) return unit(whole.format(bytes / 1e6), 'MB');
      return unit(upToOne.format(bytes / 1e9), 'GB');
    },
    rate(bytesPerSecond: number) {
      return `${this.fileSize(bytesPerSecond)}/s`;
    },
    /** Memory: binary, labelled GB as an activity monitor does. Below 0.1 GB in MB, so that a small model is not "0.0". */
    memory(bytes: number) {
      const GB = 2 ** 30;
      return bytes < 0.0995 * GB ? unit(whole.format(bytes / 2 ** 20), 'MB') : unit(upToOne.format(bytes / GB), 'GB');
    },
    /** The first figure of "5.9 of 13.5 GB"; one in MB has its unit. */
    memoryFigure(bytes: number) {
      const { name, bytes: size } = memoryUnitOf(bytes);
      return name === 'MB' ? this.memory(bytes) : upToOne.format(bytes / size);
    },
    /** Ticks of an axis: the unit once, at the last of them. */
    ticks: (values: readonly number[], name: string) =>
      values.map((value, at) => (at === values.length - 1 ? unit(upToTwo.format(value), name) : upToTwo.format(value))),
    /** Ticks of an axis of memory, where each has its unit. */
    memoryTicks: (values: readonly number[], name: MemoryUnit['name']) =>
      values.map((value) => unit(upToTwo.format(value), name)),
    percent: (share: number) => `${whole.format(share * 100)}%`,
    change(share: number) {
      const figure = one.format(Math.abs(share) * 100);
      return figure === one.format(0) ? '0%' : `${share < 0 ? MINUS : '+'}${figure}%`;
    },
    clock: (time: number) => clock.format(time),
    clockSeconds: (time: number) => clockSeconds.format(time),
    day: (time: number) => day.format(time),
    /** "14 Nov 2025". */
    date: (time: number) => dayOfYear.format(time),
    /** "today", "yesterday", "14 Nov", "14 Nov 2025" of another year. */
    dayOf(time: number, now: number) {
      const period = periodOf(time, now);
      if (period !== 'earlier') return relative.format(period === 'today' ? 0 : -1, 'day');
      return (new Date(time).getFullYear() === new Date(now).getFullYear() ? day : dayOfYear).format(time);
    },
    /** "today 09:12", "yesterday 17:40", "14 Nov". */
    when(time: number, now: number) {
      const period = periodOf(time, now);
      if (period === 'earlier') return day.format(time);
      return `${relative.format(period === 'today' ? 0 : -1, 'day')} ${clock.format(time)}`;
    },
    ago(time: number, now: number) {
      const minutes = Math.round((time - now) / 60_000);
      if (minutes > -1) return relative.format(0, 'minute');
      if (minutes > -60) return relative.format(minutes, 'minute');
      if (minutes > -24 * 60) return relative.format(Math.round(minutes / 60), 'hour');
      return relative.format(Math.round(minutes / 1440), 'day');
    },
  };

  function pair(first: number, firstUnit: string, second: number, secondUnit: string) {
    const head = unit(whole.format(first), firstUnit);
    return second === 0 ? head : `${head} ${unit(whole.format(second), secondUnit)}`;
  }
}

/** Splits a figure from its unit, which is set smaller. */
export function split(text: string): { figure: string; unit: string } {
  const at = text.indexOf(SPACE);
  return at === -1 ? { figure: text, unit: '' } : { figure: text.slice(0, at), unit: text.slice(at + 1) };
}

/** "43.0 to 48.2 tok/s": the unit once, where both have the same. */
export function rangeOf(
  spread: { low: number; high: number } | null,
  format: (value: number) => string,
  t: (key: 'figures.range', words: { low: string; high: string }) => string,
): string {
  if (!spread) return '';
  const [low, high] = [format(spread.low), format(spread.high)];
  return t('figures.range', { low: split(low).unit === split(high).unit ? split(low).figure : low, high });
}

export type Period = 'today' | 'yesterday' | 'earlier';

/** By calendar days in the user's time zone, not by hours. */
export function periodOf(time: number, now: number): Period {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (time >= midnight) return 'today';
  return time >= new Date(midnight - 1).setHours(0, 0, 0, 0) ? 'yesterday' : 'earlier';
}
