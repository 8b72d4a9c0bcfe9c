import type { Generation } from '../../../../app/engine/ipc-protocol.ts';

//  A scripted model that knows one tool: no model that fits into the tests calls tools.

export const template = '{% if tools %}<tool_call>\n{"name": …}{% endif %}';
const call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>';

/** Calls the tool, and says its result when it has one. */
export const callsWeather = ({ prompt }: Generation): string => {
  const last = prompt.messages.at(-1);
  if (last?.role === 'tool') return `It is ${last.text}.`;
  return prompt.tools?.length ? `I will look.\n\n${call}` : 'Write `<tool_call>` to call.';
};
