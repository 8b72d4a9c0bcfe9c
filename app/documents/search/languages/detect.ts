import { fold } from '../../../store/database/case-fold.ts';
import { arabic, chinese, japanese } from './eastern.ts';
import { french, german, russian, spanish } from './european.ts';
import { type Language, words } from './language.ts';

/** Question and function words that only English has. */
const ENGLISH =
  words(`the is are was were of and to for what when where who whose whom why how many much which does did do can could may
  might must should would will has have had with from by on at my your our their this that these those it its there be an or if not
  about into than then`);
/** Words of other languages that also occur in English, or as names. */
const SHARED = words(
  'in am a an as on no me so war was will hat man son also die s d t m c y de la el los las los des von van et al',
);
const LATIN = [german, french, spanish];

/** The language of a question; null: English, or none that is known here. */
export function languageOf(question: string): Language | null {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(question)) return japanese;
  if (/\p{Script=Han}/u.test(question)) return chinese;
  if (/\p{Script=Arabic}/u.test(question)) return arabic;
  if (/\p{Script=Cyrillic}/u.test(question)) return russian;
  if (/[¿¡]/.test(question)) return spanish;
  const said = fold(question).match(/\p{L}+/gu) ?? [];
  const hits = (known: ReadonlySet<string>) => said.filter((word) => known.has(word) && !SHARED.has(word)).length;
  const best = LATIN.map((language) => ({ language, count: hits(language.common) })).sort(
    (a, b) => b.count - a.count,
  )[0];
  if (!best || best.count <= hits(ENGLISH)) return null;
  // A single word may be a name, unless non-English letters confirm it, or it starts the question.
  const led = best.language.common.has(said[0] ?? '') && hits(ENGLISH) === 0;
  return best.count >= 2 || led || /[äöüßàâçèéêëîïôœùûáíóú]/i.test(question) ? best.language : null;
}
