import type { FinishReason } from '../../protocol/index.ts';
import type { ParsedCall } from '../../text/tool-calls/call-formats.ts';
import { type CallSplitter, createCallSplitter } from '../../text/tool-calls/call-splitter.ts';
import type { ChatTools } from '../deps.ts';

/** What the model writes between two tool rounds, split into text and calls as it streams. Without tools everything is text. */
export type AnswerStep = {
  /** More of the answer. Returns the part of it to show. */
  push(text: string): string;
  /** The model retracted everything after `length` characters of this step. Returns how much of the shown text remains. */
  cut(length: number): number;
  /** Length so far of the call that is being written; null: none. */
  readonly calling: number | null;
  /** Something other than a call follows a call: the model goes on as if it had the result and must be stopped. */
  readonly overrun: boolean;
  /** The step has ended. Returns the remaining text and the calls. `lost`: a call was begun but its end is missing. */
  end(reason: FinishReason): { text: string; calls: ParsedCall[]; lost: boolean };
};

/** `continuation`: text of the step that is already shown. */
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

  /** Returns the text that can be shown now. */
  function read(text: string, last = false): string {
    if (!splitter) return fresh(last ? '' : text);
    let more = '';
    for (const part of last ? splitter.flush() : splitter.push(text)) {
      if (part.kind === 'call') calls.push(part.call);
      else if (part.kind === 'text' && calls.length > 0) overrun = true;
      else if (part.kind === 'text') more += fresh(part.text);
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

/** Characters held back beyond which a call is surely being written: longer than a marker with the white space before it. */
const SURELY_A_CALL = 32;
