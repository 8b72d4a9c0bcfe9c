import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { AnswerPart, Inference, TokenScore } from '../../core/inference.ts';
import { LonghandError } from '../../protocol/index.ts';
import type { Answers } from './answers.ts';
import { jsonOf } from './body.ts';
import { completions } from './completions.ts';
import { CompletionsBody } from './completions-body.ts';
import { hangUpOf } from './hang-up.ts';
import { chatLogprobs } from './logprobs.ts';
import { ChatBody, EmbeddingsBody, requestOf } from './openai-body.ts';
import {
  callObject,
  finishReason,
  modelObject,
  problemObject,
  problemResponse,
  usageObject,
} from './openai-objects.ts';
import { problemOf, readBody } from './problems.ts';
import { serverSentEvents, sse, streamed } from './stream.ts';

//  The dialect of OpenAI: https://platform.openai.com/docs/api-reference (chat, completions, embeddings, models)

export function openAi(inference: Inference, answers: Answers): Hono {
  const app = new Hono();
  app.onError((error) => problemResponse(problemOf(error)));

  app.get('/models', async (context) =>
    context.json({ object: 'list', data: (await inference.models()).map(modelObject) }),
  );
  app.get('/models/:id', async (context) => {
    const id = context.req.param('id');
    const found = (await inference.models()).find((model) => model.id === id);
    if (!found) throw new LonghandError('model-missing', `[model] "${id}" is not here`);
    return context.json(modelObject(found));
  });

  app.post('/chat/completions', async (context) => {
    const body = readBody(ChatBody, await jsonOf(context));
    const request = requestOf(body);
    const hungUp = hangUpOf(context);
    const base = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: body.model };
    if (body.stream) {
      const parts = answers.parts(request, hungUp.signal);
      // What cannot begin is told by its status, which is sent with the first piece.
      const first = await parts.next();
      const frames = chunks(base, first, parts, body.stream_options?.include_usage ?? false);
      return streamed(serverSentEvents, frames, hungUp);
    }
    const { thinking, text, scores, calls, end } = await answers.whole(request, hungUp.signal);
    const message = {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(calls.length > 0 && { tool_calls: calls.map(callObject) }),
      ...(thinking !== '' && { reasoning_content: thinking }),
      refusal: null,
    };
    return context.json({
      ...base,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: chatLogprobs(scores), finish_reason: finishReason(end.reason) }],
      usage: usageObject(end.usage),
    });
  });

  app.post('/completions', async (context) =>
    completions(readBody(CompletionsBody, await jsonOf(context)), answers, hangUpOf(context)),
  );

  app.post('/embeddings', async (context) => {
    const { model, input, encoding_format, input_type } = readBody(EmbeddingsBody, await jsonOf(context));
    const texts = typeof input === 'string' ? [input] : input;
    const { vectors, tokens } = await inference.embed(model, texts, input_type ?? 'passage');
    const written = (vector: Float32Array) =>
      encoding_format === 'base64'
        ? Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
        : [...vector];
    return context.json({
      object: 'list',
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: written(vector) })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    });
  });

  app.all('*', (context) => {
    throw new LonghandError('not-found', `[path] ${context.req.method} ${context.req.path} is not served`);
  });
  return app;
}

async function* chunks(
  base: object,
  first: IteratorResult<AnswerPart, void>,
  parts: AsyncGenerator<AnswerPart, void>,
  withUsage: boolean,
): AsyncGenerator<string, void> {
  const chunk = (delta: object, finish_reason: string | null = null, scores?: TokenScore[]) => {
    const choice = { index: 0, delta, logprobs: chatLogprobs(scores), finish_reason };
    return sse({ ...base, object: 'chat.completion.chunk', choices: [choice] });
  };
  try {
    let calls = 0;
    yield chunk({ role: 'assistant', content: '' });
    for (let next = first; !next.done; next = await parts.next()) {
      const part = next.value;
      if (part.type === 'text') {
        yield part.kind === 'answer'
          ? chunk({ content: part.text }, null, part.scores)
          : chunk({ reasoning_content: part.text });
      } else if (part.type === 'call') {
        yield chunk({ tool_calls: [{ index: calls++, ...callObject(part) }] });
      } else if (part.type === 'end') {
        yield chunk({}, finishReason(part.reason));
        if (withUsage) {
          yield sse({ ...base, object: 'chat.completion.chunk', choices: [], usage: usageObject(part.usage) });
        }
      }
    }
    yield 'data: [DONE]\n\n';
  } catch (error) {
    // The status is sent already: the problem comes as an event, and the answer ends without its last word.
    yield sse(problemObject(problemOf(error)));
  } finally {
    await parts.return();
  }
}
