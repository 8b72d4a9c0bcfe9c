import { guarded, type Report, type TurnId } from '../../protocol/index.ts';
import type { AskName, Asks, CountedBy, LoadTarget } from '../ipc-protocol.ts';
import { answerRemotely, type RemoteAnswer } from '../remote/answer.ts';
import type { PictureUrl } from '../remote/chat-body.ts';
import { type Reach, TIMEOUTS, type Timeouts } from '../remote/connection.ts';
import { estimated, estimatedPrompt, PICTURE_TOKENS } from '../remote/estimate.ts';
import type { Engine } from './engine-client.ts';

/** The interface a chat uses for generation, implemented by the local engine and by remote ones. */
export type GenerationService = Pick<
  Engine,
  'status' | 'target' | 'ask' | 'load' | 'unload' | 'generate' | 'cancel' | 'answerNow' | 'decide'
>;

export type GenerationServiceOptions = {
  /** The engine process of this computer. */
  local: Engine;
  /** @throws LonghandError when the engine was removed */
  reach: (target: NonNullable<LoadTarget['remote']>) => Promise<Reach>;
  urlOf: PictureUrl;
  report: Report;
  timeouts?: Timeouts;
};

/** Routes each request to the engine of its model. */
export function createGenerationService({
  local,
  reach,
  urlOf,
  report,
  timeouts = TIMEOUTS,
}: GenerationServiceOptions): GenerationService & { close(): void } {
  const answers = new Map<TurnId, RemoteAnswer>();
  const told = guarded(report, (step: () => void) => step());

  return {
    status: local.status,
    target: local.target,
    unload: local.unload,
    async ask<Name extends AskName>(name: Name, input: Asks[Name]['input']): Promise<Asks[Name]['output']> {
      const counted = remoteCount(name, input as { model?: CountedBy } | null);
      return counted === null ? local.ask(name, input) : (counted as Asks[Name]['output']);
    },
    load: async (target) =>
      target.remote
        ? { backEnd: '', memoryBytes: 0, contextLength: target.remote.contextLength ?? UNKNOWN_CONTEXT }
        : local.load(target),
    generate(generation, onUpdates) {
      const { turnId, target } = generation;
      const { remote } = target;
      if (!remote) return local.generate(generation, onUpdates);
      const report = (updates: Parameters<typeof onUpdates>[0]) => {
        if (updates.some(({ event }) => event.type === 'finished' || event.type === 'failed')) answers.delete(turnId);
        told(() => onUpdates(updates));
      };
      answers.set(turnId, answerRemotely({ generation, reach: () => reach(remote), urlOf, report, timeouts }));
    },
    cancel: (turnId) => (answers.get(turnId) ?? local).cancel(turnId),
    answerNow: (turnId) => (answers.get(turnId) ?? local).answerNow(turnId),
    decide(turnId, choice) {
      const one = answers.get(turnId);
      if (one) one.decide(choice);
      else local.decide(turnId, choice);
    },
    close() {
      for (const one of answers.values()) one.cancel();
    },
  };
}

/** Assumed context length of an engine that does not report one: enough for passages, and every model has it. */
const UNKNOWN_CONTEXT = 8192;

/** An estimate for a remote model; null: the local engine has to count. */
function remoteCount(name: AskName, input: { model?: CountedBy } | null): number | null {
  if (!input?.model?.remote) return null;
  if (name === 'count') return estimatedPrompt((input as Asks['count']['input']).prompt);
  if (name === 'countText') return estimated((input as Asks['countText']['input']).text);
  return name === 'countPicture' ? PICTURE_TOKENS : null;
}
