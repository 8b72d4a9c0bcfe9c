import {
  failureOf,
  type Message,
  TOOL_STEPS,
  type ToolChoice,
  type ToolUse,
  type ToolUseId,
} from '../../protocol/index.ts';
import { addResultPicture } from '../../store/chats/attachments.ts';
import { addToolUses, INTERRUPTED, toolUsesOf, updateToolUse } from '../../store/chats/tool-uses.ts';
import type { ParsedCall } from '../../text/tool-calls/call-formats.ts';
import { type ResultPicture, ToolError } from '../../tools/tool.ts';
import type { ChatDeps, ChatTools } from '../deps.ts';

//  Runs the tool calls of an answer one by one. A call is stored as running before it begins, so that a crash never makes
//  it run twice.

export type ToolRounds = {
  /** Stores calls. `at`: their position in the answer. @throws LonghandError from the database */
  add(calls: readonly ParsedCall[], at: { text: number; thinking: number; ids: number }): void;
  /** Whether calls are pending. */
  waiting(): boolean;
  /** The user's decision on a call that waits for consent. Ignored if none does. @throws LonghandError from the database */
  decide(useId: ToolUseId, choice: ToolChoice): void;
  /** Runs pending calls. False: the model must not continue by itself. @throws LonghandError from the database */
  run(tools: ChatTools | null, signal: AbortSignal): Promise<boolean>;
};

/** How often an identical call may be repeated in one answer. */
const MAX_EQUAL = 2;

/** `unattended`: nobody is there to give consent. */
export function createToolRounds(
  core: ChatDeps,
  answer: Message,
  unattended: boolean,
  changed: (use: ToolUse) => void,
): ToolRounds {
  const { db } = core;
  let rounds = 0;
  let asked: { useId: ToolUseId; decide: (choice: ToolChoice) => void } | null = null;

  const change = (use: ToolUse, state: ToolUse['state'], result: string | null) =>
    changed(updateToolUse(db, use, { state, result }));

  /** Returns a line for each that is not actually a picture. @throws LonghandError from the disk */
  async function keepPictures(use: ToolUse, pictures: readonly ResultPicture[]): Promise<string[]> {
    const missing: string[] = [];
    for (const { bytes, name } of pictures) {
      try {
        const kept = await core.pictures.keep(bytes, name);
        addResultPicture(db, { useId: use.id, messageId: answer.id }, { ...kept, name }, core.now());
      } catch (error) {
        const { code } = failureOf(error);
        if (code !== 'unreadable' && code !== 'too-large') throw error;
        missing.push(`[${name} cannot be decoded, and is not shown]`);
      }
    }
    return missing;
  }

  /** Asks for consent if needed. */
  async function mayRun(use: ToolUse, signal: AbortSignal): Promise<boolean> {
    const consent = core.tools.consentOf(use.name, JSON.parse(use.arguments));
    if (!consent || consent.given(answer.chatId)) return true;
    if (unattended) return false;
    change(use, { status: 'asking', destroys: consent.destroys, host: consent.host }, null);
    const choice = await new Promise<ToolChoice>((resolve) => {
      asked = { useId: use.id, decide: resolve };
      signal.addEventListener('abort', () => resolve('deny'), { once: true });
    });
    asked = null;
    if (choice !== 'deny' && !signal.aborted) consent.give(answer.chatId, choice);
    return choice !== 'deny';
  }

  async function make(use: ToolUse, tools: ChatTools | null, signal: AbortSignal) {
    if (!tools?.schemas.some((schema) => schema.function.name === use.name)) {
      return change(use, { status: 'failed', problem: 'unknown', ms: 0 }, `Error: there is no tool "${use.name}"`);
    }
    if (tools.withheld.includes(use.name)) return change(use, { status: 'refused' }, STAYS);
    const allowed = await mayRun(use, signal);
    if (signal.aborted) return change(use, { status: 'waiting' }, null);
    if (!allowed) return change(use, { status: 'refused' }, REFUSED);
    change(use, { status: 'running' }, null);
    const begin = performance.now();
    const ms = () => Math.round(performance.now() - begin);
    try {
      const context = { chatId: answer.chatId, messageId: answer.id, signal };
      const { text, pictures } = await core.tools.run(use.name, JSON.parse(use.arguments), context);
      const took = ms();
      const missing = await keepPictures(use, pictures);
      change(use, { status: 'done', ms: took }, [text, ...missing].join('\n'));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      if (signal.aborted) change(use, { status: 'interrupted' }, INTERRUPTED);
      else change(use, { status: 'failed', problem: error.problem, ms: ms() }, `Error: ${error.message}`);
    }
  }

  return {
    add(calls, { text, thinking, ids }) {
      const step = 1 + (toolUsesOf(db, answer.id).at(-1)?.step ?? -1);
      const uses = calls.map((call) => ({
        name: call.name,
        arguments: JSON.stringify(call.arguments),
        step,
        textAt: text,
        thinkingAt: thinking,
      }));
      for (const use of addToolUses(db, answer.id, uses, ids)) changed(use);
    },
    decide(useId, choice) {
      if (asked?.useId === useId) asked.decide(choice);
    },
    waiting: () => toolUsesOf(db, answer.id).some(isWaiting),
    async run(tools, signal) {
      if (++rounds > TOOL_STEPS) return false;
      const all = toolUsesOf(db, answer.id);
      for (const use of all.filter(isWaiting)) {
        if (signal.aborted) return false;
        const before = all.slice(0, all.indexOf(use)).filter((other) => sameCall(other, use));
        if (before.length >= MAX_EQUAL) {
          change(use, { status: 'failed', problem: 'repeated', ms: 0 }, REPEATED);
          return false;
        }
        await make(use, tools, signal);
      }
      return !signal.aborted;
    },
  };
}

const REPEATED = 'Error: the same call was made twice before. Answer with what it gave.';

const STAYS = 'Error: the documents of the user stay on their computer. They can allow it in the menu of documents.';

const REFUSED = 'Error: the user did not allow this call.';

const isWaiting = ({ state }: ToolUse): boolean => state.status === 'waiting';

const sameCall = (a: ToolUse, b: ToolUse): boolean =>
  a.name === b.name && sorted(JSON.parse(a.arguments)) === sorted(JSON.parse(b.arguments));

/** JSON with sorted keys, so that key order does not matter. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
