import { checkCitations } from '../../documents/answer/citation-check.ts';
import type { Generation, TurnUpdate } from '../../engine/ipc-protocol.ts';
import { createTurnMetrics } from '../../metrics/turn-metrics.ts';
import {
  failureOf,
  type Grounding,
  guarded,
  LonghandError,
  type LoopEvidence,
  type Message,
  type MessageState,
  type ModelId,
  type PauseAction,
  type ToolChoice,
  type ToolUseId,
  type TurnEvent,
  type TurnId,
  withDecision,
} from '../../protocol/index.ts';
import { updateChat } from '../../store/chats/chats.ts';
import { findMessage, idsOf } from '../../store/chats/messages.ts';
import { tokensAtSteps } from '../../store/chats/tool-uses.ts';
import type { ParsedCall } from '../../text/tool-calls/call-formats.ts';
import type { ChatDeps, ChatTools } from '../deps.ts';
import { createAnswerStep } from './answer-step.ts';
import { createMessageWriter } from './message-writer.ts';
import { createToolRounds } from './tool-round.ts';
import { createUsageTracker } from './usage-tracker.ts';

/** One answer being written. */
export type Turn = {
  readonly turnId: TurnId;
  readonly message: () => Message | undefined;
  overlay(message: Message): Message;
  cancel(): void;
  skipThinking(): void;
  cancelAutoDecision(): void;
  decide(choice: PauseAction): void;
  decideTool(useId: ToolUseId, choice: ToolChoice): void;
  /** Longhand is quitting: an undecided loop ends as a loop, an answer being written as stopped. */
  leave(): void;
  /** Writes everything to disk. Returns whether that succeeded. */
  flush(): boolean;
  /** The same, for the last time. */
  close(): void;
};

/** The prompt, its sources and the tools that may be called; or the answer to give without asking the model. */
export type Prepared =
  | { generation: Generation; modelName: string; grounding: Grounding | null; tools: ChatTools | null }
  | { generation: null; said: string; grounding: Grounding };

type Finished = TurnEvent & { type: 'finished' };
/** An end that did not come from the engine has no figures. */
type End = Pick<Finished, 'type' | 'reason'> | Finished | (TurnEvent & { type: 'failed' });

export type TurnOptions = {
  core: ChatDeps;
  turnId: TurnId;
  /** The answer to write, already stored as running. `continuation`: it already has text. */
  answer: Message;
  continuation: boolean;
  /** Nobody is there to decide: decisions are made at once. */
  unattended: boolean;
  /** May be slow: searches documents and loads the model for it. `after`: the calls of this answer have their results, and
   *  it continues with the same sources. */
  prepare: (after?: { grounding: Grounding | null }) => Promise<Prepared>;
  /** Called after the last event. `sound`: it finished normally, so queued messages may follow. */
  onEnd: (sound: boolean) => void;
  /** Called when all of it is on disk. */
  onStored: () => void;
};

/** A rewind that ran into the same loop again would do so for ever, and without a loop there is nothing to rewind. */
const byItself = (action: PauseAction, suggested: PauseAction, loop: LoopEvidence | undefined): PauseAction =>
  action === 'rewind' && (loop === undefined || loop.times > 1) ? suggested : action;

//  preparing ──▶ running ◀──▶ paused          cancel, finished, failed ──▶ over
//      ▲            │ called
//      └── tools ◀──┘

export function runTurn({
  core,
  turnId,
  answer,
  continuation,
  unattended,
  prepare,
  onEnd,
  onStored,
}: TurnOptions): Turn {
  let tracker = createUsageTracker(continuation ? answer : null);
  const metrics = createTurnMetrics();
  // The tokens of edited text are unknown, so none are stored for what follows it.
  let keepIds = true;
  let name = '';
  let modelId: ModelId | null = null;
  let phase: 'preparing' | 'running' | 'paused' | 'tools' | 'over' = 'preparing';
  let grounding: Grounding | null = null;
  let decision: NodeJS.Timeout | undefined;
  /** How it ended. Its speed is recorded once the answer is on disk. */
  let ending: Finished | null = null;
  /** The current step, up to the next calls, and where it begins in the answer. */
  let step = createAnswerStep(null, '');
  let base = { text: 0, thinking: 0, ids: 0 };
  let tools: ChatTools | null = null;
  /** Aborted when the user stops the turn, which also ends its calls. */
  const stopped = new AbortController();
  /** Whether the answer has made calls: then its timings have several starts. */
  let called = false;

  const { saving } = core;
  /** Runs one of several independent steps. */
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
  const rounds = createToolRounds(core, answer, unattended, (use) => tell({ type: 'tool', use }));

  async function start() {
    if (over()) return;
    try {
      const prepared = await prepare();
      // Cancelled in the meantime.
      if (over()) return;
      // Calls that were still pending when the answer ended come first.
      if (continuation && rounds.waiting()) return await callTools(prepared.generation && prepared.tools);
      write(prepared);
    } catch (error) {
      finish({ type: 'failed', failure: failureOf(error) });
    }
  }

  function write(prepared: Prepared) {
    grounding = prepared.grounding;
    if (grounding) ground(grounding);
    if (!prepared.generation) return say(prepared.said);
    const { generation, modelName } = prepared;
    name = modelName;
    modelId = generation.target.modelId;
    tools = prepared.tools;
    const { continuation } = generation.prompt;
    const stored = findMessage(core.db, answer.id);
    const last = stored?.toolUses.at(-1);
    base = {
      text: last?.textAt ?? 0,
      thinking: last?.thinkingAt ?? 0,
      ids: [...tokensAtSteps(core.db, answer.id).values()].at(-1) ?? 0,
    };
    keepIds = continuation === null || continuation.ids !== null || continuation.text + continuation.thinking === '';
    step = createAnswerStep(tools, continuation?.text ?? '');
    phase = 'running';
    writer.set({ modelName });
    core.engine.generate(generation, follow);
  }

  /** Runs the pending calls; then the model continues with their results. */
  async function callTools(allowed: ChatTools | null) {
    phase = 'tools';
    called = true;
    const goesOn = await rounds.run(allowed, stopped.signal);
    if (over()) return;
    if (!goesOn) return finish({ type: 'finished', reason: stopped.signal.aborted ? 'cancelled' : 'tool' });
    phase = 'preparing';
    const prepared = await prepare({ grounding });
    if (!over()) write(prepared);
  }

  /** The model has written calls and waits for their results. */
  function call(calls: readonly ParsedCall[]) {
    // The text after the calls is a new paragraph.
    const before = message()?.text ?? '';
    if (before.trim() !== '') show('\n\n'.slice(before.length - before.trimEnd().length));
    // Calls that are not stored would run again after a restart.
    if (!writer.flush()) throw new LonghandError('disk-full', '[tools] the answer before the call cannot be saved');
    const now = findMessage(core.db, answer.id);
    const ids = idsOf(core.db, answer.id)?.length ?? 0;
    rounds.add(calls, { text: now?.text.length ?? 0, thinking: now?.thinking.length ?? 0, ids });
    void callTools(tools).catch((error) => finish({ type: 'failed', failure: failureOf(error) }));
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

  function say(text: string) {
    show(text);
    finish({ type: 'finished', reason: 'stop' });
  }

  function take({ event, ids = [], keptIds = 0, calls = [] }: TurnUpdate) {
    if (phase === 'over') return;
    tracker.see(event);
    metrics.see(event);
    const storedIds = keepIds ? ids : [];
    switch (event.type) {
      case 'started':
        // Only a model that has answered counts as used: new chats default to it.
        safely(() => modelId !== null && core.models.used(modelId));
        return tell({ ...event, model: name });
      case 'delta':
        return said(event, storedIds);
      case 'stats':
        return sample(event);
      case 'loop':
        writer.loop(event.evidence);
        break;
      case 'retracted':
        return retracted(event, keptIds);
      case 'paused':
        return pause(event);
      case 'decided':
        return resumed(event);
      case 'finished':
      case 'failed':
        writer.ids(storedIds);
        return written(event, calls);
    }
    tell(event);
  }

  function said(event: TurnEvent & { type: 'delta' }, ids: readonly number[]) {
    const text = event.kind === 'thinking' ? event.text : step.push(event.text);
    writer.text(event.kind, text, ids);
    tell({ ...event, text });
    const { calling } = step;
    if (calling !== null) tell({ type: 'calling', characters: calling });
    if (step.overrun) core.engine.cancel(turnId);
  }

  function retracted({ kind, from }: TurnEvent & { type: 'retracted' }, keptIds: number) {
    const length = kind === 'thinking' ? base.thinking + from : base.text + step.cut(from);
    writer.cut(kind, length, base.ids + keptIds);
    tell({ type: 'retracted', kind, from: length });
  }

  /** Adds text that does not correspond to generated tokens. */
  function show(text: string) {
    if (text === '') return;
    writer.text('answer', text, []);
    tell({ type: 'delta', kind: 'answer', text, tokens: 0 });
  }

  /** The model has finished: the whole answer, or this step before its calls. */
  function written(event: TurnEvent & { type: 'finished' | 'failed' }, told: readonly ParsedCall[]) {
    const { text, calls: found, lost } = step.end(event.type === 'finished' ? event.reason : 'error');
    show(text);
    // The text has no trace of the unfinished call: on continuing, the model writes it again.
    if (lost) writer.cut('answer', message()?.text.length ?? 0, base.ids);
    const calls = [...found, ...told];
    if (event.type === 'failed' || calls.length === 0 || stopped.signal.aborted) return finish(event);
    tracker = createUsageTracker(tracker.figures(event));
    call(calls);
  }

  function sample(event: TurnEvent & { type: 'stats' }) {
    const shifted = tracker.shifted(event.sample);
    writer.sample(shifted);
    tell({ type: 'stats', sample: shifted });
  }

  function pause(event: TurnEvent & { type: 'paused' }) {
    phase = 'paused';
    const { evidence, thought, suggested } = event;
    setState({ status: 'paused', turnId, ...(evidence && { evidence }), ...(thought !== undefined && { thought }) });
    tell(event);
    changed();
    if (unattended && ask.action === 'ask') core.engine.decide(turnId, suggested);
    else if (ask.action !== 'ask') core.engine.decide(turnId, byItself(ask.action, suggested, evidence));
    else if (ask.waitSeconds > 0) {
      const decide = () => core.engine.decide(turnId, suggested);
      decision = setTimeout(guarded(saving.report, decide), ask.waitSeconds * 1000);
    }
  }

  function resumed(event: TurnEvent & { type: 'decided' }) {
    clearTimeout(decision);
    // The answer continues even if the preference for later ones cannot be stored.
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

  /** Runs once. A failure in one step must not leave the chat busy or keep other listeners from being told. */
  function finish(event: End) {
    if (over()) return;
    clearTimeout(decision);
    phase = 'over';
    const figures = tracker.figures('usage' in event ? event : {});
    const state: MessageState =
      event.type === 'finished'
        ? { status: 'done', reason: event.reason }
        : { status: 'failed', failure: event.failure };
    // A continued answer has two starts and says little about speed.
    if (event.type === 'finished' && 'usage' in event && !continuation && !called && name !== '') ending = event;
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
      backEnd: metrics.backEnd(),
      usage,
      timings,
      memoryBytes: metrics.memoryBytes(),
    });
  }

  function cancel() {
    stopped.abort();
    if (phase === 'preparing') finish({ type: 'finished', reason: 'cancelled' });
    else if (phase !== 'tools') core.engine.cancel(turnId);
  }

  // The caller must have this turn before its first event.
  queueMicrotask(guarded(saving.report, start));
  return {
    turnId,
    message,
    overlay: writer.overlay,
    cancel,
    leave: () => (phase === 'paused' ? core.engine.decide(turnId, 'stop') : cancel()),
    skipThinking: () => core.engine.answerNow(turnId),
    cancelAutoDecision: () => clearTimeout(decision),
    decideTool: rounds.decide,
    decide: (choice) => core.engine.decide(turnId, choice),
    flush: writer.flush,
    close: writer.close,
  };
}
