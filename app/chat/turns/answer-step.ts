import type { FinishReason } from '../../protocol/index.ts';
import type { ParsedCall } from '../../text/tool-calls/call-formats.ts';
import { type CallSplitter, createCallSplitter } from '../../text/tool-calls/call-splitter.ts';
import type { ChatTools } from '../deps.ts';

/** What the model writes in one go: text, told from the calls in it while it streams. Without tools everything is text. */
export type AnswerStep = {
  /** More of the answer. What of it is to be shown. */
  push(text: string): string;
  /** The model took back all after `length` characters of what it wrote here. How much stays of what is shown. */
  cut(length: number): number;
  /** Characters of a call that is being written; null when none is. */
  readonly calling: number | null;
  /** Something else than a call follows a call: the model goes on as if it had its result, and is to be stopped. */
  readonly overrun: boolean;
  /** It has ended. Text that still comes, and what was called. `lost`: a call was continuation, and its end is missing. */
  end(reason: FinishReason): { text: string; calls: ParsedCall[]; lost: boolean };
};

/** `continuation`: text of it that is shown already. */
export function createAnswerStep(tools: ChatTools | null, continuation: string): AnswerStep {
  let raw = continuation;
  let shown = continuation.length;
  let splitter: CallSplitter | null = null;
  let calls: ParsedCall[] = [];
  let out = 0;
  let overrun = false;
  open();

  function open() {
    splitter = tools?.format && tools.schemas.length > 0 ? createCallSplitter(tools.format, tools.schemas) : null;
    calls = [];
    out = 0;
    overrun = false;
    read(raw);
  }

  /** Text that is not shown yet. */
  function read(text: string, last = false): string {
    if (!splitter) return fresh(last ? '' : text);
    let more = '';
    for (const part of last ? splitter.flush() : splitter.push(text)) {
      if (part.kind === 'call') calls.push(part.call);
      else if (calls.length > 0) overrun = true;
      else more += fresh(part.text);
    }
    return more;
  }

  function fresh(text: string): string {
    const from = Math.max(0, shown - out);
    out += text.length;
    shown = Math.max(shown, out);
    return text.slice(from);
  }

  return {
    push(text) {
      raw += text;
      return read(text);
    },
    cut(length) {
      raw = raw.slice(0, length);
      open();
      shown = out;
      return shown;
    },
    get calling() {
      const held = splitter?.held.length ?? 0;
      return held > SURELY_A_CALL ? held : null;
    },
    get overrun() {
      return overrun;
    },
    end(reason) {
      const whole = reason === 'stop' || overrun;
      const lost = !whole && (calls.length > 0 || (splitter?.held ?? '') !== '');
      const text = whole && !overrun ? read('', true) : '';
      return { text, calls: lost ? [] : calls, lost };
    },
  };
}

/** A marker that is only continuation, with the white space before it, is not called a call yet. */
const SURELY_A_CALL = 32;
