import type { ToolEntry } from '../protocol/index.ts';
import type { Tool as ToolSchema } from '../text/chat-template.ts';
import { type CallContext, type Consent, type Tool, ToolError, type ToolResult } from './tool.ts';

/** All tools that there are. */
export type Toolbox = {
  entries(): ToolEntry[];
  /** For a chat template. Names of tools that are not there any more are passed over. */
  schemas(names: readonly string[]): ToolSchema[];
  /** Null where nobody has to allow it, or there is no such tool. */
  consentOf(name: string, given: Readonly<Record<string, unknown>>): Consent | null;
  /** Ends with a text of at most `MAX_RESULT` characters, whatever the tool does; soon after the signal is aborted, too.
   *  @throws ToolError with no more than that */
  run(name: string, given: unknown, context: CallContext): Promise<ToolResult>;
};

/** Characters of a result that a model gets. The rest would push the conversation out of its context. */
export const MAX_RESULT = 20_000;
/** Milliseconds that a call may take. */
export const MAX_MS = 120_000;

export function createToolbox(offered: () => readonly Tool[], timeLimitMs = MAX_MS): Toolbox {
  // The first of a name has it: a server that calls its tool like one of ours neither replaces nor describes it.
  const tools = () =>
    [
      ...new Map(
        offered()
          .toReversed()
          .map((tool) => [tool.name, tool]),
      ).values(),
    ].toReversed();
  const find = (name: string) => tools().find((tool) => tool.name === name);
  return {
    entries: () =>
      tools().map(({ name, builtIn, description, of }) => ({
        name,
        title: of?.title ?? name,
        builtIn,
        server: of?.server ?? null,
        description,
      })),
    consentOf: (name, given) => find(name)?.consent?.(given) ?? null,
    schemas: (names) =>
      tools()
        .filter(({ name }) => names.includes(name))
        .map(({ name, description, parameters }) => ({
          type: 'function',
          function: { name, description, parameters },
        })),
    async run(name, given, context) {
      const tool = find(name);
      if (!tool) throw new ToolError('unknown', `there is no tool "${name}"`);
      if (typeof given !== 'object' || given === null || Array.isArray(given))
        throw new ToolError('arguments', 'arguments are an object');
      const limit = AbortSignal.timeout(timeLimitMs);
      const signal = AbortSignal.any([context.signal, limit]);
      const reason = () =>
        limit.aborted
          ? new ToolError('timed-out', `no result within ${timeLimitMs / 1000} seconds`)
          : new ToolError('failed', 'it was stopped');
      const ended = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(reason()), { once: true });
        if (signal.aborted) reject(reason());
      });
      const call = async () => tool.run(given as Record<string, unknown>, { ...context, signal });
      try {
        const result = await Promise.race([call(), ended]);
        const { text, pictures } = typeof result === 'string' ? { text: result, pictures: [] } : result;
        return { text: shortened(text), pictures };
      } catch (error) {
        const { problem, message } = error instanceof ToolError ? error : toolErrorOf(error);
        throw new ToolError(problem, shortened(message));
      }
    },
  };
}

const toolErrorOf = (error: unknown) => new ToolError('failed', error instanceof Error ? error.message : String(error));

function shortened(text: string): string {
  if (text.length <= MAX_RESULT) return text;
  const left = text.length - MAX_RESULT;
  return `${text.slice(0, MAX_RESULT).toWellFormed()}\n[${left} more characters were left out]`;
}
