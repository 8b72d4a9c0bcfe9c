import type * as Addon from '../../../../native/addon/index.d.ts';
import type { Generation, GrammarText } from '../../ipc-protocol.ts';
import { boundBy } from './grammars.ts';
import type { LoadedModel } from './loaded-model.ts';

//  A JSON answer that is rewound out of a loop stays JSON: changed sampling would break it, so it is constrained by
//  a grammar from then on, as if with a schema that allows any JSON.

/** One object or array; optionally with text and a fence around it, and text after it. */
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
const END = '```';
/** Longer answers are not examined. */
const LONGEST = 200_000;

/** Possible completions of a JSON prefix, after which only closing brackets are missing. */
const words = ['true', 'false', 'null'].flatMap((word) => [...word].map((_, at) => word.slice(at + 1)));
const hex = ['', '0', '00', '000', '0000'];
const inString = ['"', '""', ...hex.map((digits) => `${digits}"`)];
const rests = ['', '0', ':0', '"":0', ...words, ...inString, ...inString.map((rest) => `${rest}:0`)];

/** Whether the text is a prefix of one JSON object or array, or a complete one; in a fence only what is inside counts. */
export function isJsonSoFar(answer: string): boolean {
  const fence = answer.indexOf(FENCE);
  const json = (fence < 0 ? answer : (answer.slice(fence + FENCE.length).split(END)[0] ?? '')).trimStart();
  if (answer.length > LONGEST || !/^[[{]\s*\S/.test(json)) return false;
  const closing = closingOf(json);
  return rests.some((rest) => isJson(json + rest + closing));
}

/** Whether an answer that looped was JSON, or at least the part before the loop. */
export const wasJson = (whole: string, kept: string): boolean => isJsonSoFar(whole) || isJsonSoFar(kept);

/** The closing brackets of those that are open. */
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

/** The grammar for the rest of a rewound JSON answer. */
export async function boundAsJson(
  model: LoadedModel,
  { prompt }: Pick<Generation, 'prompt'>,
  inThinking: boolean,
): Promise<Partial<Addon.GenerateOptions>> {
  return boundBy(model, { grammar, prompt }, inThinking);
}
