import { contentWords } from './stemming.ts';

//  Expands follow-up questions without a model: what they leave out was mentioned just before.

/** Refers to something mentioned before. */
const POINTS =
  /\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|such|one|ones|the same|the other|the former|the latter|both|else|instead)\b/i;
/** Continues the previous question. */
const GOES_ON =
  /^(?:and|or|but|so|also|then|what about|how about|what else|why|why not|how so|since when|until when|in which case|even)\b/i;

const MAX_CARRIED_TERMS = 10;
const FEW_WORDS = 2;

/** Maximum characters of a query. For a message that contains a whole text, its beginning and
 *  end, where the question is: thousands of words would match everything, and each has to be weighted. */
const MAX_CHARACTERS = 2000;

const beginningAndEnd = (text: string): string => {
  const half = MAX_CHARACTERS / 2;
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, half)} … ${text.slice(-half)}`;
};

export type Exchange = { question: string; answer: string };

/** The search query: expanded with the topic of earlier questions if it depends on them. */
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

/** The topic words of a question, as written. */
const spokenOf = (question: string): string[] =>
  question.match(/[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}'’.-]*/gu)?.filter((word) => contentWords(word).length > 0) ?? [];

const namesIn = (answer: string): string[] =>
  [...answer.matchAll(/(?<=[\p{Ll}\p{N},;:] )(?:\p{Lu}\p{L}+ ?)+|(?:\p{Lu}\p{L}+ ){1,3}\p{Lu}\p{L}+/gu)]
    .flatMap(([name]) => name.trim().split(' '))
    .slice(0, 4);

const TASK =
  /^(?:please |can you |could you )*(?:summari[sz]e|sum up|outline|list|compare|translate|rewrite|rephrase|extract|draft|write|explain (?:the|this|these) (?:document|text|file)|describe (?:the|this|these) (?:document|text|file)|give (?:me )?(?:an? )?(?:overview|summary|outline))\b|\b(?:tl;?dr|main points|key points|in a nutshell|what (?:is|are) (?:this|these|the) (?:document|file|text|paper|book)s? about)\b/i;

/** A task for whole documents: no single passage answers it. */
export const isTask = (question: string): boolean => TASK.test(question.trim());
