import { isTask } from '../../documents/search/query-rewrite.ts';
import { contentWords } from '../../documents/search/stemming.ts';
import { ASSISTANT, type ModelId } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { listCollections } from '../../store/documents/collections.ts';
import type { Lookup } from './retrieval-step.ts';

//  No model knows the app it runs in, so questions about Longhand are looked up in the built-in manual.

const THE_APP = '(?:longhand|th(?:is|e) (?:app|application|program|software))';
const NAMES_THE_APP = new RegExp(`\\b${THE_APP}\\b`, 'i');
const WITHIN_THE_APP = new RegExp(`\\s+(?:by|from|in|inside|into|of|to|using|with|within) ${THE_APP}\\b`, 'gi');
const OF_THE_APP = new RegExp(`\\b${THE_APP}['’]s\\b`, 'gi');
const THE_APP_ITSELF = new RegExp(`\\b${THE_APP}\\b`, 'gi');
/** Models also make false claims about themselves; the manual has the facts about the built-in one. */
const NAMES_THE_ASSISTANT = /\b(?:you|your|yourself)\b/i;
/** Cosine of a question and a known one. Of 544 messages that neither name the app nor say "you", 14 are answered from the manual then,
 *  five of them wrongly. */
const NEARLY_THE_SAME = 0.6;
/** Longer texts are rarely questions about the app. */
const LONGEST_QUESTION = 300;

/** The query for the manual; null if the question is about something else. What neither names the app nor addresses its assistant ("How
 *  do I ask about a PDF?") is about the app if it is nearly a question that people ask about it. For other
 *  models it has to be named: they know more about other things than the manual. */
export function manualFor(db: Database, modelId: ModelId, question: string): Lookup | null {
  if (question.length > LONGEST_QUESTION || isTask(question)) return null;
  const named = NAMES_THE_APP.test(question) || (modelId === ASSISTANT && NAMES_THE_ASSISTANT.test(question));
  if (!named && modelId !== ASSISTANT) return null;
  const manual = listCollections(db).find(({ builtIn }) => builtIn);
  return manual
    ? { question: withoutTheApp(question), collectionIds: [manual.id], ...(!named && { known: NEARLY_THE_SAME }) }
    : null;
}

/** The whole manual is about Longhand, so the name does not discriminate between passages. */
export function withoutTheApp(question: string): string {
  const rest = question.replace(WITHIN_THE_APP, '').replace(OF_THE_APP, 'its').replace(THE_APP_ITSELF, 'it');
  return contentWords(rest).length > 0 ? rest : question;
}
