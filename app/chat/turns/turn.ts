import { checkCitations } from '../../documents/answer/citation-check.ts';
import type { Generation, TurnUpdate } from '../../engine/ipc-protocol.ts';
import { createTurnMetrics } from '../../metrics/turn-metrics.ts';
import {
  failureOf,
  type Grounding,
  guarded,
  type LoopEvidence,
  type Message,
  type MessageState,
  type ModelId,
  type PauseAction,
  type TurnEvent,
  type TurnId,
  withDecision,
} from '../../protocol/index.ts';
import { updateChat } from '../../store/chats.ts';
import { findMessage } from '../../store/messages.ts';
import type { ChatDeps } from '../deps.ts';
import { NOT_FOUND } from '../prompt/rag-prompt.ts';
import { createMessageWriter } from './message-writer.ts';
import { createUsageTracker } from './usage-tracker.ts';

/** One running answer. */
export type Turn = {
  readonly turnId: TurnId;
  readonly message: () => Message | undefined;
  overlay(message: Message): Message;
  cancel(): void;
  answerNow(): void;
  hold(): void;
  decide(choice: PauseAction): void;
  /** Longhand ends. What nobody decided stopped in its loop; what was being written was stopped. */
  leave(): void;
  /** Puts what there is on disk. Returns whether it is there. */
  flush(): boolean;
  /** The same for the last time. */
  close(): void;
};

/** What the model is to be asked, from which passages. `generation` null: nothing was found, so it is not asked. */
export type Prepared = { generation: Generation | null; modelName: string; grounding: Grounding | null };

type Finished = TurnEvent & { type: 'finished' };

export type TurnOptions = {
  core: ChatDeps;
  turnId: TurnId;
  /** The answer that is written, already stored as running. `begun`: it had text before. */
  answer: Message;
  begun: boolean;
  /** Nobody is there to decide: what would wait for a person is decided at once. */
  unattended: boolean;
  /** May take its time: documents are searched, and the model is loaded for that. */
  prepare: () => Promise<Prepared>;
  /** After the last event. `sound`: it finished, so that waiting messages may follow. */
  onEnd: (sound: boolean) => void;
  /** All of it is on disk. */
  onStored: () => void;
};

/** A rewind that found the same loop again would find it for ever. */
const byItself = (action: PauseAction, suggested: PauseAction, { times }: LoopEvidence): PauseAction =>
  action === 'rewind' && times > 1 ? suggested : action;

//  preparing ──▶ running ◀──▶ paused          cancel, finished, failed ──▶ over

export function runTurn({ core, turnId, answer, begun, unattended, prepare, onEnd, onStored }: TurnOptions): Turn {
  const tally = createUsageTracker(begun ? answer : null);
  const gauge = createTurnMetrics();
  // The tokens of a text that was written by hand are not known, so none are kept for it.
  let keepIds = true;
  let name = '';
  let modelId: ModelId | null = null;
  let phase: 'preparing' | 'running' | 'paused' | 'over' = 'preparing';
  let grounding: Grounding | null = null;
  let decision: NodeJS.Timeout | undefined;
  /** How it ended. Its speed is kept once the answer itself is on disk. */
  let ending: Finished | null = null;

  const { saving } = core;
  /** One step of several that do not depend on each other. */
  const safely = guarded(saving.report, (step: () => void) => step());

  const writer = createMessageWriter({
    db: core.db,
    messageId: answer.id,
    onTrouble: (trouble) => (trouble ? saving.failed(trouble, answer) : saving.worked(answer)),
    onDone() {
      safely(() => saving.worked(answer));
      if (ending) safely(measured);
      safely(onStored);
    },
  });

  const message = () => {
    const stored = findMessage(core.db, answer.id);
    return stored && writer.overlay(stored);
  };
  const tell = (event: TurnEvent) => core.emit('turn', { chatId: answer.chatId, messageId: answer.id, turnId, event });
  const changed = () => {
    const now = message();
    if (now) core.emit('message.changed', now);
  };
  const ask = core.settings().loopGuard;

  async function start() {
    if (over()) return;
    try {
      const prepared = await prepare();
      // Cancelled meanwhile.
      if (over()) return;
      grounding = prepared.grounding;
      if (grounding) ground(grounding);
      const { generation, modelName } = prepared;
      if (!generation) return refuse();
      name = modelName;
      modelId = generation.target.modelId;
      keepIds = !begun || generation.prompt.continuation?.ids !== null;
      phase = 'running';
      writer.set({ modelName });
      core.engine.generate(generation, follow);
    } catch (error) {
      finish({ type: 'failed', failure: failureOf(error) });
    }
  }

  function follow(updates: TurnUpdate[]) {
    try {
      updates.forEach(take);
    } catch (error) {
      saving.report(error);
      core.engine.cancel(turnId);
      finish({ type: 'failed', failure: failureOf(error) });
    }
  }

  const over = () => phase === 'over';

  function ground(now: Grounding) {
    grounding = now;
    writer.set({ grounding: now });
    tell({ type: 'grounding', grounding: now });
  }

  function refuse() {
    writer.text('answer', NOT_FOUND, []);
    tell({ type: 'delta', kind: 'answer', text: NOT_FOUND, tokens: 0 });
    finish({ type: 'finished', reason: 'stop', ...tally.figures({}) });
  }

  function take({ event, ids = [], keptIds = 0 }: TurnUpdate) {
    if (phase === 'over') return;
    tally.see(event);
    gauge.see(event);
    const kept = keepIds ? ids : [];
    switch (event.type) {
      case 'started':
        // Only what has answered counts as used: new chats take it next.
        safely(() => modelId !== null && core.models.used(modelId));
        return tell({ ...event, model: name });
      case 'delta':
        writer.text(event.kind, event.text, kept);
        break;
      case 'stats':
        return sample(event);
      case 'loop':
        writer.loop(event.evidence);
        break;
      case 'retracted':
        writer.cut(event.kind, event.from, keptIds);
        break;
      case 'paused':
        return pause(event);
      case 'decided':
        return resumed(event);
      case 'finished':
      case 'failed':
        writer.ids(kept);
        return finish(event);
    }
    tell(event);
  }

  function sample(event: TurnEvent & { type: 'stats' }) {
    const shifted = tally.shifted(event.sample);
    writer.sample(shifted);
    tell({ type: 'stats', sample: shifted });
  }

  function pause(event: TurnEvent & { type: 'paused' }) {
    phase = 'paused';
    setState({ status: 'paused', turnId, ...(event.evidence && { evidence: event.evidence }) });
    tell(event);
    changed();
    if (event.evidence === undefined) return;
    if (unattended && ask.action === 'ask') core.engine.decide(turnId, event.suggested);
    else if (ask.action !== 'ask') core.engine.decide(turnId, byItself(ask.action, event.suggested, event.evidence));
    else if (ask.waitSeconds > 0) {
      const decide = () => core.engine.decide(turnId, event.suggested);
      decision = setTimeout(guarded(saving.report, decide), ask.waitSeconds * 1000);
    }
  }

  function resumed(event: TurnEvent & { type: 'decided' }) {
    clearTimeout(decision);
    // The answer goes on also where the wish for the next ones cannot be stored.
    if (event.choice === 'loop-guard-off')
      safely(() => core.emit('chat.changed', updateChat(core.db, answer.chatId, { loopGuard: false })));
    phase = 'running';
    const loops = message()?.loops ?? [];
    writer.set({ state: { status: 'running', turnId }, loops: withDecision(loops, event.choice) });
    tell(event);
    changed();
  }

  function setState(state: MessageState) {
    writer.set({ state });
  }

  /** Happens once. What fails in one step must not leave the chat busy, nor keep the others from being told. */
  function finish(event: TurnEvent & { type: 'finished' | 'failed' }) {
    if (over()) return;
    clearTimeout(decision);
    phase = 'over';
    const figures = tally.figures(event);
    const state: MessageState =
      event.type === 'finished'
        ? { status: 'done', reason: event.reason }
        : { status: 'failed', failure: event.failure };
    // An answer that was gone on with has two beginnings, and says little about the speed.
    if (event.type === 'finished' && !begun && name !== '') ending = event;
    safely(cite);
    safely(() => writer.set({ state, ...figures }, 'end'));
    safely(() => tell({ ...event, ...figures }));
    safely(changed);
    safely(() => onEnd(event.type === 'finished'));
  }

  function cite() {
    const text = message()?.text ?? '';
    if (grounding?.found && text !== '') ground(checkCitations(text, grounding));
  }

  function measured() {
    if (!ending) return;
    const { usage, timings } = ending;
    ending = null;
    const { chatId, id: messageId } = answer;
    core.measured({
      chatId,
      messageId,
      model: name,
      backEnd: gauge.backEnd(),
      usage,
      timings,
      memoryBytes: gauge.memoryBytes(),
    });
  }

  function cancel() {
    if (phase === 'preparing') finish({ type: 'finished', reason: 'cancelled', ...tally.figures({}) });
    else core.engine.cancel(turnId);
  }

  // Whoever called has to know this turn before it says anything.
  queueMicrotask(guarded(saving.report, start));
  return {
    turnId,
    message,
    overlay: writer.overlay,
    cancel,
    leave: () => (phase === 'paused' ? core.engine.decide(turnId, 'stop') : cancel()),
    answerNow: () => core.engine.answerNow(turnId),
    hold: () => clearTimeout(decision),
    decide: (choice) => core.engine.decide(turnId, choice),
    flush: writer.flush,
    close: writer.close,
  };
}
