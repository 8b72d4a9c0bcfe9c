import { t } from '../i18n.ts';
import { matchOf } from '../lib/word-match.ts';
import type { SettingsSection } from '../stores/shell.ts';
import english from '../strings/en.json';

/** Sections whose name or rows contain the typed words. */
export function matchingSections(ids: readonly SettingsSection[], query: string): SettingsSection[] {
  if (query.trim() === '') return [...ids];
  return ids.filter((id) => [t(`settings.${id}`), ...rowsOf(id)].some((text) => matchOf(text, query) !== null));
}

const rowsOf = (id: SettingsSection): string[] =>
  (Object.keys(english.setting[id]) as never[]).map((key) => t(`setting.${id}.${key}` as never));
