import type { Prompt, PromptMessage } from '../../engine/ipc-protocol.ts';
import type { Message, ToolUse } from '../../protocol/index.ts';
import { idsOf } from '../../store/chats/messages.ts';
import { tokensAtSteps } from '../../store/chats/tool-uses.ts';
import type { Database } from '../../store/database/database.ts';
import type { ChatTools } from '../deps.ts';

//  An answer with calls is one message on the page and several in a prompt: the text before a call, the results, and the text
//  after them.

/** `done`: everything up to the last results. `last`: the text written since. */
export type AnswerSteps = { done: PromptMessage[]; last: NonNullable<Prompt['continuation']> };

/** `tools` null: the template does not support calls and results; they are left out, and the text is joined. */
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
      // A template has its own format for calls, which need not match the tokens that were generated.
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

/** Tool results are untrusted. Template tokens in them reach the model as plain text; where a family frames calls
 *  and results with plain words, those lose their first character, so that no result can close its own frame. */
const quoted = (result: string): string => result.replace(FRAMES, (frame) => `\u2039${frame.slice(1)}`);

const FRAMES =
  /<(?=\/?\s*(?:tool_call|tool_response|tools|function|parameter)\b[^<>]{0,200}>|\|?\/?(?:tool|im_|eot|eom|start_header|end_header|python_tag)[^<>]{0,40}>)|\[(?=\/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|INST)\])/gi;

/** In place of a result that was obtained for a local model. */
const WITHHELD = 'Error: the documents of the user stay on their computer.';

/** In place of the result of a call that was not made because the answer was stopped first. */
const NO_RESULT = 'Error: this call was not made.';

function byStep(uses: readonly ToolUse[]): ToolUse[][] {
  const steps = new Map<number, ToolUse[]>();
  for (const use of uses) steps.set(use.step, [...(steps.get(use.step) ?? []), use]);
  return [...steps.values()];
}
