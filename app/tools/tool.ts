import type { ChatId, MessageId, ToolChoice, ToolProblem } from '../protocol/index.ts';

/** JSON Schema of an object. */
export type Parameters = { readonly type: 'object'; readonly [key: string]: unknown };

/** Where a call comes from. */
export type CallContext = { readonly chatId: ChatId; readonly messageId: MessageId; readonly signal: AbortSignal };

/** Who has to allow a call, and what was allowed. */
export type Consent = {
  given(chatId: ChatId): boolean;
  give(chatId: ChatId, choice: ToolChoice): void;
  /** What it does cannot be brought back: it is never allowed for good. */
  readonly destroys: boolean;
  /** The site that it opens; null: it is of another program. */
  readonly host: string | null;
};

/** A picture that a tool gave, as its file is. */
export type ResultPicture = { readonly bytes: Uint8Array; readonly name: string };

/** What a call gave: text for the model, and pictures for the user, which the text names. */
export type ToolResult = { readonly text: string; readonly pictures: readonly ResultPicture[] };

export type Tool = {
  /** As the model calls it. */
  readonly name: string;
  readonly builtIn: boolean;
  /** Whose it is, and its name there; absent of those that ship with Longhand. */
  readonly of?: { readonly server: string; readonly title: string };
  /** Of a call with these arguments. Absent or null: nobody has to allow it. */
  consent?(given: Readonly<Record<string, unknown>>): Consent | null;
  /** For the model, which reads English best. */
  readonly description: string;
  readonly parameters: Parameters;
  /** A text alone has no pictures. @throws ToolError with what the model and the user are told */
  run(
    given: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<string | ToolResult> | string | ToolResult;
};

/** A call that came to nothing. */
export class ToolError extends Error {
  readonly problem: ToolProblem;
  constructor(problem: ToolProblem, message: string) {
    super(message);
    this.name = 'ToolError';
    this.problem = problem;
  }
}

/** @throws ToolError `arguments` */
export function textIn(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = given[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  // Small models write 12 for "12".
  if (typeof value === 'number') return String(value);
  throw new ToolError('arguments', `"${name}" is missing; a text is needed`);
}
