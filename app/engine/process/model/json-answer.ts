import type * as Addon from '../../../../native/addon/index.d.ts';
import type { Generation, GrammarText } from '../../ipc-protocol.ts';
import { boundBy } from './grammars.ts';
import type { LoadedModel } from './loaded-model.ts';

//  An answer that is JSON when it is rewound out of a loop stays JSON: other chances than before would break it, so it is bound by
//  a grammar from then on, as if a schema that allows everything had been asked for.

/** One object or array; or words and a fence around it, and what is said after. */
const grammar: GrammarText = {
  kind: 'gbnf',
  text: String.raw`root ::= blank nest blank | words? blank fence blank nest blank "\x60\x60\x60" [^\x60]*
words ::= blank [^ \t\n\r\x60\[\]{}] [^\x60]*
fence ::= "\x60\x60\x60json"
nest ::= object | array
value ::= nest | string | number | "true" | "false" | "null"
object ::= "{" blank (pair (blank "," blank pair)* blank)? "}"
pair ::= string blank ":" blank value
array ::= "[" blank (value (blank "," blank value)* blank)? "]"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F]))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
blank ::= [ \t\n\r]*
`,
};

const FENCE = '```json';
/** Characters up to which it is looked at. */
const LONGEST = 200_000;

/** What can stand after a piece of JSON, so that all that is missing are its closing brackets. */
const words = ['true', 'false', 'null'].flatMap((word) => [...word].map((_, at) => word.slice(at + 1)));
const hex = ['', '0', '00', '000', '0000'];
const inString = ['"', '""', ...hex.map((digits) => `${digits}"`)];
const rests = ['', '0', ':0', '"":0', ...words, ...inString, ...inString.map((rest) => `${rest}:0`)];

/** The text is one object or array of JSON that goes on, or that has just ended. */
export function isJsonSoFar(answer: string): boolean {
  const fence = answer.indexOf(FENCE);
  const json = (fence < 0 ? answer : answer.slice(fence + FENCE.length)).trimStart();
  if (answer.length > LONGEST || !/^[[{]\s*\S/.test(json)) return false;
  const closing = closingOf(json);
  return rests.some((rest) => isJson(json + rest + closing));
}

/** Of an answer that looped, or of what was kept of it where only the loop was none. */
export const wasJson = (whole: string, kept: string): boolean => isJsonSoFar(whole) || isJsonSoFar(kept);

/** The brackets that are open, closed. */
function closingOf(json: string): string {
  const open: string[] = [];
  for (const [bracket] of json.matchAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)|[[\]{}]/gs)) {
    if (bracket === '{' || bracket === '[') open.push(bracket === '{' ? '}' : ']');
    else if (!bracket.startsWith('"')) open.pop();
  }
  return open.reverse().join('');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What binds the rest of an answer that was rewound. */
export async function boundAsJson(
  model: LoadedModel,
  { prompt }: Pick<Generation, 'prompt'>,
  inThinking: boolean,
): Promise<Partial<Addon.GenerateOptions>> {
  return boundBy(model, { grammar, prompt }, inThinking);
}
