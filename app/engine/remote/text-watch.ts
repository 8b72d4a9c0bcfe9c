import type { Settings } from '../../protocol/index.ts';
import type { Finding } from '../../text/loop/finding.ts';
import { LoopGuard } from '../../text/loop/loop-detector.ts';

//  The loop detector on text: the tokens of a remote engine are unknown, so words are used in their place.

type Place = 'thinking' | 'answer';
/** `from`: where the finding begins in the text of its kind. */
export type Found = { finding: Finding; from: number };

export type TextWatch = {
  push(text: string, place: Place): Found | null;
  /** The user chose to keep going. */
  goOn(copies: number): void;
  /** Forgets the words from `first` on; `length` characters of text remain. */
  rewind(first: number, length: number): void;
};

/** Words with the space before them, single digits, short runs of punctuation and of white space: similar to a tokenizer's output. */
const WORDS = /[ ]?\p{L}+|[ ]?\p{N}|[ ]?[^\s\p{L}\p{N}]{1,8}|\n\n?|[^\S\n]{1,8}/gu;
const LONGEST_QUESTION = 20_000;

/** `shown`: text of each kind that is already shown. */
export function createTextWatch(
  options: Settings['loopGuard'],
  question: string,
  shown: Readonly<Record<Place, string>>,
): TextWatch {
  const ids = new Map<string, number>();
  const idOf = (word: string): number => {
    const known = ids.get(word) ?? ids.size;
    ids.set(word, known);
    return known;
  };
  const asked = question.slice(0, LONGEST_QUESTION);
  const guard = new LoopGuard({ ...options, asked: (asked.match(WORDS) ?? []).map(idOf), question: asked });
  /** Where each word begins in the text of its kind. */
  const begins: number[] = [];
  const lengths = { thinking: shown.thinking.length, answer: shown.answer.length };
  /** A word that may still be incomplete. */
  let open = { text: '', place: 'answer' as Place };

  function take(word: string, place: Place): Found | null {
    begins.push(lengths[place]);
    lengths[place] += word.length;
    const finding = guard.push(idOf(word), word, place);
    return finding && { finding, from: begins[finding.startToken] ?? 0 };
  }

  return {
    push(text, place) {
      const before = open.place !== place && open.text !== '' ? take(open.text, open.place) : null;
      const words = ((open.place === place ? open.text : '') + text).match(WORDS) ?? [];
      open = { text: words.pop() ?? '', place };
      let found = before;
      for (const word of words) {
        const now = take(word, place);
        if (now && (found === null || found.finding.degree === 'quiet')) found = now;
      }
      return found;
    },
    goOn: (copies) => guard.act(copies),
    rewind(first, length) {
      const { place } = open;
      lengths[place] = length;
      begins.length = Math.min(begins.length, first);
      open = { text: '', place };
      guard.rewind(first);
    },
  };
}
