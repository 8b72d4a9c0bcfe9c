import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { packedVector } from '../../../app/chat/prompt/written-answers.ts';
import { createEngine } from '../../../app/engine/client/engine-client.ts';
import { places, realEngine } from '../core/core.ts';

export type Pairs = [message: string, answer: string][];

/** Vectors of messages by the encoder in the box. */
export function messageEncoder(): (texts: string[]) => Promise<Float32Array[]> {
  const engine = createEngine({ startEngine: realEngine(), onStatus: () => {} });
  onTestFinished(() => engine.close());
  const target = { path: join(places.resources, 'encoder'), device: null, threads: null };
  return async (texts) => (await engine.ask('embed', { target, texts, kind: 'query', urgent: true })).vectors;
}

/** What the assistant in this folder remembers. */
export async function writeAnswers(
  folder: string,
  { facts, talk }: { facts: Pairs; talk: Pairs },
  embed: ReturnType<typeof messageEncoder>,
): Promise<void> {
  writeFileSync(join(folder, 'answers.json'), JSON.stringify({ facts, talk }));
  const vectors = await embed([...facts, ...talk].map(([message]) => message));
  writeFileSync(join(folder, 'answers.vectors'), Buffer.concat(vectors.map(packedVector)));
}
