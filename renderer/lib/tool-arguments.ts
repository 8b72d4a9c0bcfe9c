/** The arguments of a tool in one line: just the value if there is only one. */
export function argumentsLine(json: string): string {
  const given = parsed(json);
  if (given === null) return json;
  const entries = Object.entries(given);
  const [first] = entries;
  if (!first) return '';
  const line =
    entries.length === 1 ? shown(first[1]) : entries.map(([key, value]) => `${key}: ${shown(value)}`).join(', ');
  return line.replace(/\s+/g, ' ').slice(0, 200);
}

/** The same in full: a text as it is, anything else as indented JSON. */
export function argumentsText(json: string): string {
  const given = parsed(json);
  if (given === null) return json;
  const [only, ...others] = Object.values(given);
  if (typeof only === 'string' && others.length === 0) return only;
  return JSON.stringify(given, null, 2);
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function parsed(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
