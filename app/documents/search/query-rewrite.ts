import { contentWords } from './stemming.ts';

//  Questions in a conversation. No model is asked: what a question leaves out was said just before it.

/** Points at something that was said before. */
const POINTS =
  /\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|such|one|ones|the same|the other|the former|the latter|both|else|instead)\b/i;
/** Goes on from the question before. */
const GOES_ON =
  /^(?:and|or|but|so|also|then|what about|how about|what else|why|why not|how so|since when|until when|in which case|even)\b/i;

const MAX_CARRIED_TERMS = 10;
const FEW_WORDS = 2;

/** Characters that are searched with, as a search by hand may have. Of a message with a whole text in it these are its beginning and
 *  its end, where a question stands: thousands of words find everything, and each has to be weighed. */
const MAX_CHARACTERS = 2000;

const beginningAndEnd = (text: string): string => {
  const half = MAX_CHARACTERS / 2;
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, half)} … ${text.slice(-half)}`;
};

export type Exchange = { question: string; answer: string };

/** The question as it is searched: with the words that the questions before it spoke of, when it needs them. */
export function withHistory(message: string, earlier: readonly Exchange[]): string {
  const question = beginningAndEnd(message);
  const own = new Set(contentWords(question));
  const last = earlier.at(-1);
  if (!last || isTask(question) || !needsMore(question, own.size)) return question;
  const names = /\b(?:he|him|his|she|her|they|them|their)\b/i.test(question)
    ? namesIn(beginningAndEnd(last.answer))
    : [];
  const carried = [...names, ...spokenOf(beginningAndEnd(last.question))].filter((word) => {
    const [root] = contentWords(word);
    if (root === undefined || own.has(root)) return false;
    own.add(root);
    return true;
  });
  return carried.length === 0 ? question : `${question} (${carried.slice(0, MAX_CARRIED_TERMS).join(' ')})`;
}

const needsMore = (question: string, words: number): boolean =>
  words === 0 ||
  POINTS.test(question) ||
  GOES_ON.test(question.trim()) ||
  (words <= FEW_WORDS && !/\p{Lu}\p{L}+ \p{Lu}/u.test(question));

/** Words of a question that tell what it was about, as they were written. */
const spokenOf = (question: string): string[] =>
  question.match(/[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}'’.-]*/gu)?.filter((word) => contentWords(word).length > 0) ?? [];

const namesIn = (answer: string): string[] =>
  [...answer.matchAll(/(?<=[\p{Ll}\p{N},;:] )(?:\p{Lu}\p{L}+ ?)+|(?:\p{Lu}\p{L}+ ){1,3}\p{Lu}\p{L}+/gu)]
    .flatMap(([name]) => name.trim().split(' '))
    .slice(0, 4);

const TASK =
  /^(?:please |can you |could you )*(?:summari[sz]e|sum up|outline|list|compare|translate|rewrite|rephrase|extract|draft|write|explain (?:the|this|these) (?:document|text|file)|describe (?:the|this|these) (?:document|text|file)|give (?:me )?(?:an? )?(?:overview|summary|outline))\b|\b(?:tl;?dr|main points|key points|in a nutshell|what (?:is|are) (?:this|these|the) (?:document|file|text|paper|book)s? about)\b/i;

/** Something is to be done with the documents as a whole: no single passage answers that. */
export const isTask = (question: string): boolean => TASK.test(question.trim());
