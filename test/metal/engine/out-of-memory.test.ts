// A GPU that runs out of memory in the middle of a turn: what is optional (snapshots, room for more, second slots) is
// done without, what is needed fails with a code, and the next turn is right.
import { afterEach, expect, test } from 'vitest';
import type { Model, Session } from '../../../native/addon/index.d.ts';
import { readCase } from '../../support/models/golden.ts';
import { loadOnMetal, needsStandin, standin } from '../standin.ts';

needsStandin();
afterEach(() => standin.faults({}));

const END = 2;
const families = ['qwen3_5/dense_tied', 'minicpm_sala/mixed'];

/** Two turns of a chat; the tokens of the answers. */
async function chat(session: Session, ids: Int32Array): Promise<number[][]> {
  const answers: number[][] = [];
  let prompt = [...ids, END];
  for (let turn = 0; turn < 2; turn++) {
    const { tokens } = await session.generate(Int32Array.from(prompt), {
      maxTokens: 5,
      stopTokens: [END],
      path: 'exact',
    });
    answers.push(tokens);
    prompt = [...prompt, ...tokens, END, ...ids, END];
  }
  return answers;
}

/** A session's memory is freed by the model's worker: what is asked of that afterwards comes later. */
async function closed(model: Model, session: Session): Promise<void> {
  session.close();
  const later = open(model);
  await later.reset();
  later.close();
}

const open = (model: Model) => model.createSession({ path: 'exact', kvType: 'f32', contextLength: 128 });

test.each(families)(
  '%s: wherever memory ends, an answer is right or fails in words',
  { timeout: 240_000 },
  async (name) => {
    const reference = readCase(name);
    const ids = reference.prompts[0]?.ids.slice(0, 9) ?? new Int32Array();
    const model = await loadOnMetal(reference.folder);
    const session = open(model);
    await chat(session, ids);
    await closed(model, session);
    const empty = standin.counters().allocated;
    const measured = open(model);
    const expected = await chat(measured, ids);
    const needed = standin.counters().allocated - empty;
    const snapshots = measured.snapshots().length;
    await closed(model, measured);
    const outcomes = { right: 0, fewerSnapshots: 0, refused: 0 };
    const steps = 10;
    for (let step = 0; step <= steps; step++) {
      const tight = open(model);
      standin.faults({ memoryLimit: standin.counters().allocated + Math.floor((needed * step) / steps) });
      try {
        expect(await chat(tight, ids)).toEqual(expected);
        outcomes.right += 1;
        if (tight.snapshots().length < snapshots) outcomes.fewerSnapshots += 1;
      } catch (error) {
        if ((error as { code?: string }).code !== 'memory') throw error;
        outcomes.refused += 1;
      }
      standin.faults({});
      expect(await chat(tight, ids)).toEqual(expected);
      await closed(model, tight);
    }
    expect(outcomes.refused).toBeGreaterThan(0);
    expect(outcomes.right).toBeGreaterThan(0);
    expect(outcomes.fewerSnapshots).toBeGreaterThan(0);
    model.close();
  },
);
