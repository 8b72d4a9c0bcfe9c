import type { Prompt, PromptMessage } from '../../engine/ipc-protocol.ts';
import type { Message, ToolUse } from '../../protocol/index.ts';
import { idsOf } from '../../store/chats/messages.ts';
import { tokensAtSteps } from '../../store/chats/tool-uses.ts';
import type { Database } from '../../store/database/database.ts';
import type { ChatTools } from '../deps.ts';

//  An answer with calls is one message on the page and several in a prompt: what was written before a call, the results, and what
//  was written after them.

/** `done`: up to the last results. `last`: what was written since. */
export type AnswerSteps = { done: PromptMessage[]; last: NonNullable<Prompt['continuation']> };

/** `tools` null: the template has no place for calls and results; they are left out, and the text is one. */
export function answerSteps(db: Database, message: Message, tools: Pick<ChatTools, 'withheld'> | null): AnswerSteps {
  const { text, thinking, toolUses, id } = message;
  const ids = idsOf(db, id);
  if (toolUses.length === 0 || !tools)
    return { done: [], last: { text, thinking, ids: toolUses.length === 0 ? ids : null } };
  const done: PromptMessage[] = [];
  let [textAt, thinkingAt] = [0, 0];
  for (const uses of byStep(toolUses)) {
    const [first] = uses;
    if (!first) continue;
    done.push({
      role: 'assistant',
      text: text.slice(textAt, first.textAt).trimEnd(),
      thinking: thinking.slice(thinkingAt, first.thinkingAt),
      // A template writes calls in its own way, which need not be that of the tokens.
      ids: null,
      calls: uses.map((use) => ({
        id: use.id,
        type: 'function',
        function: { name: use.name, arguments: JSON.parse(use.arguments) },
      })),
    });
    for (const use of uses)
      done.push({
        role: 'tool',
        text: tools.withheld.includes(use.name) ? WITHHELD : quoted(use.result ?? NO_RESULT),
        thinking: '',
        ids: null,
        answers: { callId: use.id, name: use.name },
      });
    ({ textAt, thinkingAt } = first);
  }
  const at = [...tokensAtSteps(db, id).values()].at(-1) ?? 0;
  const rest = ids?.slice(at) ?? [];
  const last = { text: text.slice(textAt), thinking: thinking.slice(thinkingAt), ids: rest.length > 0 ? rest : null };
  return { done, last };
}

/** A result is what somebody else wrote. Tokens of a template in it stay text on their way to the model; where a family frames calls
 *  and results with plain words, these lose their first sign, so that no result ends before its end. */
const quoted = (result: string): string => result.replace(FRAMES, (frame) => `\u2039${frame.slice(1)}`);

const FRAMES =
  /<(?=\/?\s*(?:tool_call|tool_response|tools|function|parameter)\b[^<>]{0,200}>|\|?\/?(?:tool|im_|eot|eom|start_header|end_header|python_tag)[^<>]{0,40}>)|\[(?=\/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|INST)\])/gi;

/** Of a call that was made for a model of this computer. */
const WITHHELD = 'Error: the documents of the user stay on their computer.';

/** Of a call that was never made: the answer was stopped before. */
const NO_RESULT = 'Error: this call was not made.';

function byStep(uses: readonly ToolUse[]): ToolUse[][] {
  const steps = new Map<number, ToolUse[]>();
  for (const use of uses) steps.set(use.step, [...(steps.get(use.step) ?? []), use]);
  return [...steps.values()];
}
