//  Keys as text: "Mod+Shift+T". Mod is ⌘ on a Mac and Ctrl elsewhere. The last part is the key's own name.

export type KeyEvent = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** A canonical text for a key combination. Null while only modifiers are held. */
export function keysOf(event: KeyEvent, mac: boolean): string | null {
  if (['Control', 'Meta', 'Alt', 'Shift', 'AltGraph', 'Dead', 'Unidentified'].includes(event.key)) return null;
  const mod = mac ? event.metaKey : event.ctrlKey;
  const other = mac ? event.ctrlKey : event.metaKey;
  const parts = [
    mod && 'Mod',
    other && (mac ? 'Ctrl' : 'Meta'),
    event.altKey && 'Alt',
    event.shiftKey && 'Shift',
    nameOf(event),
  ];
  return parts.filter(Boolean).join('+');
}

/** With Alt or Shift a key types another character: letters and digits are then named by their physical position. */
function nameOf(event: KeyEvent): string {
  const place = /^(?:Key([A-Z])|Digit(\d))$/.exec(event.code);
  const latin = /^[a-zA-Z0-9]$/.test(event.key);
  if (place && (event.altKey || event.shiftKey || !latin)) return place[1] ?? (place[2] as string);
  if (event.code === 'Period') return '.';
  if (event.code === 'Comma') return ',';
  if (event.code === 'Backslash') return '\\';
  return event.key.length === 1 ? event.key.toUpperCase() : event.key;
}

const macSigns: Record<string, string> = { Mod: '⌘', Ctrl: '⌃', Alt: '⌥', Shift: '⇧' };
const signs: Record<string, string> = { Mod: 'Ctrl', Meta: 'Super', Alt: 'Alt', Shift: 'Shift' };
const named: Record<string, string> = {
  ' ': 'Space',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Enter: '↩',
  Escape: 'Esc',
};

/** One label per key, in the platform's order. */
export function caps(keys: string, mac: boolean): string[] {
  const parts = keys.endsWith('++') ? [...keys.slice(0, -2).split('+'), '+'] : keys.split('+');
  const order = mac ? ['Ctrl', 'Alt', 'Shift', 'Mod'] : ['Mod', 'Ctrl', 'Meta', 'Alt', 'Shift'];
  const modifiers = order.filter((name) => parts.slice(0, -1).includes(name));
  const key = parts.at(-1) as string;
  return [...modifiers.map((name) => (mac ? macSigns[name] : signs[name]) ?? name), named[key] ?? key];
}

export const shown = (keys: string, mac: boolean): string => caps(keys, mac).join(mac ? '' : '+');
