import { indexed } from '../../store/documents/index-tokenizer.ts';
import type { Language } from './languages/language.ts';

//  Content words of a text in comparable form: case-folded like the index, stemmed, without stop
//  words. English by default.

/** Stop words and question words. */
const COMMON = new Set(
  `a an the and or but nor so if then than as at by for from in into of off on onto out over per to up with without within
  about above after again against along also among any are aren't around be because been before being below between both
  can can't cannot could couldn't did didn't do does doesn't doing don't down during each else ever every few had hadn't
  has hasn't have haven't having he her here hers herself him himself his how however i i'm i've is isn't it its it's
  itself just let let's like may me might mine more most much must my myself need no not now of once one only onto other
  our ours ourselves own same shall she should shouldn't since some still such that that's their theirs them themselves
  there there's these they they're this those through till too toward towards under until upon us very was wasn't we were
  weren't what what's whatever when where whereas whether which while who who's whole whom whose why will with won't would
  wouldn't yes yet you you'd you'll you're your yours yourself please tell say says said know get gets got give given
  find show many long often far much kind sort thing things way ways happen happens happened exactly according document
  documents file text passage passages mention mentioned mentions state stated states der die das und ist ein eine im mit
  von zu le la les des et est un une du que el los las y es en`.split(/\s+/),
);

/** A number with its separators is one word: 1,200.50, 14:30, 2031-03-14. */
const WORD = /\p{N}+(?:[.,:/-]\p{N}+)*|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}]+)*/gu;
const HOW =
  /\bhow (?:large|big|high|tall|deep|far|fast|soon|late|heavy|wide|old|expensive|cheap(?:ly)?|loud|strong|hard)\b/gi;

const CALLED = /\b(?:usually |also )?called\b/gi;

/** Stemmed content words in order, with repetitions. */
export const contentWords = (text: string, language: Language | null = null): string[] =>
  written(text, language).map(language?.stem ?? stem);

/** Content words of a question, each with its original form. "Large" in "how large" names the type of the answer, not a
 *  topic. */
export function askedWords(question: string, language: Language | null = null): Map<string, string> {
  const asked = language?.asking ? question.replace(language.asking, ' ') : question;
  const telling = language ? asked : asked.replace(HOW, 'how').replace(CALLED, '');
  return new Map(written(telling, language).map((word) => [(language?.stem ?? stem)(word), word]));
}

/** Those of `wanted` (content words) that occur in a text. Faster than stemming all words: only those with the same first letters are stemmed. */
export function wordsAmong(
  text: string,
  wanted: ReadonlyMap<string, number>,
  language: Language | null = null,
): Set<string> {
  if (language) return new Set(contentWords(text, language).filter((word) => wanted.has(word)));
  const beginnings = new Set([...wanted.keys()].map((word) => word.slice(0, 2)));
  const alike = (indexed(text).replaceAll('’', "'").match(WORD) ?? []).filter((word) =>
    beginnings.has(word.slice(0, 2)),
  );
  return new Set(alike.map(stem).filter((word) => wanted.has(word)));
}

function written(text: string, language: Language | null): string[] {
  const common = language?.common ?? COMMON;
  const said = indexed(text).replaceAll('’', "'");
  // "l'appartement": what is elided is grammar.
  const whole = language?.code === 'fr' ? said.replace(/(?<!\p{L})\p{L}{1,2}'/gu, ' ') : said;
  return (whole.match(WORD) ?? []).filter(
    (word) => !common.has(word) && (word.length > 1 || /[^\p{L}]|[^a-z]/u.test(word)),
  );
}

/** A light English stemmer: the result need not be a word, only the same for all forms. */
export function stem(word: string): string {
  let root = word.replace(/'(?:s|re|ve|ll|d)?$/, '');
  if (root.length < 4 || /\p{N}/u.test(root)) return root;
  root = root
    .replace(/(ss|x|ch|sh)es$/, '$1')
    .replace(/ies$/, 'y')
    .replace(/([^su])s$/, '$1');
  if (root.length > 5) root = undoubled(root.replace(/(?:ing|ed)$/, '')) ?? root;
  root = root.replace(/(?:ational|ation|ition|ment|ness|ally|ly)$/, (ending) =>
    root.length - ending.length >= 4 ? '' : ending,
  );
  return root.length > 4 ? root.replace(/[ey]$/, '') : root;
}

const undoubled = (root: string): string | null =>
  root.length >= 3 && /[aeiouy]/.test(root) ? root.replace(/([bdgklmnprt])\1$/, '$1') : null;
