import type { Generation, PromptMessage, PromptPicture } from '../ipc-protocol.ts';

//  A prompt as the request body of /v1/chat/completions.

/** A picture as a data URL, re-encoded so that no metadata of its file is sent. */
export type PictureUrl = (picture: PromptPicture) => Promise<string>;

/** What differs between the requests of one answer. `kept`: the answer so far, to be continued. */
export type AnswerSegment = { kept: string; thinking: boolean; rewinds: number };

export async function chatBody(
  { prompt, sampling, stops, target }: Generation,
  { kept, thinking, rewinds }: AnswerSegment,
  urlOf: PictureUrl,
): Promise<object> {
  const messages = await Promise.all(prompt.messages.map((message) => messageOf(message, urlOf)));
  // There is no way to continue an answer that every server understands, so it is asked for in words.
  const more =
    kept === ''
      ? []
      : [
          { role: 'assistant', content: kept },
          { role: 'user', content: GO_ON },
        ];
  return {
    model: target.remote?.model ?? '',
    messages: [...messages, ...more],
    stream: true,
    stream_options: { include_usage: true },
    ...samplingOf(sampling, rewinds),
    ...(stops.length > 0 && { stop: stops.slice(0, 4) }),
    ...(prompt.tools && prompt.tools.length > 0 && { tools: prompt.tools }),
    // Sent only to switch thinking off: servers that do not know the parameter may refuse it.
    ...(!thinking && { chat_template_kwargs: { enable_thinking: false } }),
  };
}

const GO_ON =
  'Your answer above was interrupted. Go on exactly where it stops, with the very next word. Repeat nothing of it, and do not speak of the interruption.';

/** Unset values are left to the server. After a rewind the sampling changes, so that the same text does not come again. */
function samplingOf(sampling: Generation['sampling'], rewinds: number): object {
  const { temperature, topP, topK, minP, seed, maxTokens } = sampling;
  const { repetitionPenalty, presencePenalty, frequencyPenalty } = sampling;
  const warmer = rewinds > 0 ? Math.max(temperature ?? 0, rewinds > 1 ? 0.9 : 0.6) : temperature;
  const freer = rewinds > 0 ? Math.max(frequencyPenalty ?? 0, 0.5) : frequencyPenalty;
  const named = {
    temperature: warmer,
    top_p: topP,
    top_k: topK,
    min_p: minP,
    repetition_penalty: repetitionPenalty,
    presence_penalty: presencePenalty,
    frequency_penalty: freer,
    seed: seed === undefined ? undefined : seed + rewinds,
    max_tokens: maxTokens,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

async function messageOf({ role, text, calls, answers, pictures }: PromptMessage, urlOf: PictureUrl): Promise<object> {
  if (role === 'tool') return { role, content: text, tool_call_id: answers?.callId ?? '', name: answers?.name };
  if (calls) return { role, content: text === '' ? null : text, tool_calls: calls.map(callOf) };
  if (!pictures || pictures.length === 0) return { role, content: text };
  const seen = await Promise.all(
    pictures.map(async (picture) => ({ type: 'image_url', image_url: { url: await urlOf(picture) } })),
  );
  return { role, content: [...seen, { type: 'text', text }] };
}

const callOf = ({ id, type, function: { name, arguments: given } }: NonNullable<PromptMessage['calls']>[number]) => ({
  id,
  type,
  function: { name, arguments: JSON.stringify(given) },
});
