import { Hono } from 'hono';
import { z } from 'zod';
import type { Inference } from '../../core/inference.ts';
import { jsonOf } from './body.ts';
import { hangUpOf } from './hang-up.ts';
import { problemResponse } from './openai/openai-objects.ts';
import { problemOf, readBody } from './problems.ts';

//  Reranking, compatible with Jina and Cohere: https://docs.cohere.com/reference/rerank

const Text = z.union([z.string(), z.looseObject({ text: z.string() }).transform(({ text }) => text)]);
const RerankBody = z.looseObject({
  model: z.string().min(1).max(500),
  query: Text.refine((text) => text !== '', 'is empty'),
  documents: z.array(Text).min(1).max(1000),
  top_n: z.number().int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
});

export function rerank(inference: Inference): Hono {
  const app = new Hono();
  app.onError((error) => problemResponse(problemOf(error)));
  app.post('/', async (context) => {
    const { model, query, documents, top_n, return_documents } = readBody(RerankBody, await jsonOf(context));
    const { scores, tokens } = await inference.rank(model, query, documents, hangUpOf(context).signal);
    const best = scores.map((relevance_score, index) => ({ index, relevance_score }));
    best.sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
    return context.json({
      model,
      results: best
        .slice(0, top_n ?? best.length)
        .map((one) => (return_documents ? { ...one, document: { text: documents[one.index] } } : one)),
      usage: { total_tokens: tokens },
    });
  });
  return app;
}
