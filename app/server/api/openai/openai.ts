import { Hono } from 'hono';
import type { Inference } from '../../../core/inference.ts';
import { LonghandError } from '../../../protocol/index.ts';
import type { Answers } from '../answers.ts';
import { jsonOf } from '../body.ts';
import { hangUpOf } from '../hang-up.ts';
import { problemOf, readBody } from '../problems.ts';
import { chatCompletions } from './chat-completions.ts';
import { completions } from './completions.ts';
import { CompletionsBody } from './completions-body.ts';
import { ChatBody, EmbeddingsBody } from './openai-body.ts';
import { modelObject, problemResponse } from './openai-objects.ts';

//  OpenAI's API: https://platform.openai.com/docs/api-reference (chat, completions, embeddings, models)

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

  app.post('/chat/completions', async (context) =>
    chatCompletions(readBody(ChatBody, await jsonOf(context)), answers, hangUpOf(context)),
  );

  app.post('/completions', async (context) =>
    completions(readBody(CompletionsBody, await jsonOf(context)), answers, hangUpOf(context)),
  );

  app.post('/embeddings', async (context) => {
    const { model, input, encoding_format, input_type } = readBody(EmbeddingsBody, await jsonOf(context));
    const texts = typeof input === 'string' ? [input] : input;
    const { vectors, tokens } = await inference.embed(model, texts, input_type ?? 'passage', hangUpOf(context).signal);
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
