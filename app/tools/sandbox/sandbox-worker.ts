import { parentPort, workerData } from 'node:worker_threads';
import variant from '@jitl/quickjs-singlefile-mjs-release-sync';
import { newQuickJSWASMModuleFromVariant, type QuickJSContext, type QuickJSHandle } from 'quickjs-emscripten-core';

//  Entry of the thread that runs one program. The program sees JavaScript and `console.log`, and nothing of the host: no files, no
//  network, no timers, no modules. Host objects never go in; only numbers and text come out.

export type SandboxJob = { code: string; timeLimitMs: number; memoryBytes: number; outputCharacters: number };
/** `value`: of the last expression, as JSON or as text; null where it has none. */
export type SandboxReply = { output: string; value: string | null } | { output: string; error: string; late: boolean };

const STACK_BYTES = 512 * 1024;

run(workerData as SandboxJob).then((reply) => parentPort?.postMessage(reply satisfies SandboxReply));

async function run({ code, timeLimitMs, memoryBytes, outputCharacters }: SandboxJob): Promise<SandboxReply> {
  const quickjs = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = quickjs.newRuntime();
  const end = performance.now() + timeLimitMs;
  const late = () => performance.now() > end;
  runtime.setMemoryLimit(memoryBytes);
  runtime.setMaxStackSize(STACK_BYTES);
  runtime.setInterruptHandler(late);
  const context = runtime.newContext();
  const lines = addConsole(context, outputCharacters);
  const output = () => lines.join('\n');
  const failed = (error: QuickJSHandle): SandboxReply => ({
    output: output(),
    error: errorText(context, error).slice(0, outputCharacters),
    late: late(),
  });

  const result = context.evalCode(code, 'program.js');
  if (result.error) return failed(result.error);
  while (runtime.hasPendingJob()) {
    const { error } = runtime.executePendingJobs(1);
    if (error) return failed(error);
    if (late()) return { output: output(), error: 'it took too long', late: true };
  }
  const state = context.getPromiseState(result.value);
  if (state.type === 'rejected') return failed(state.error);
  if (state.type === 'pending')
    return { output: output(), error: 'it waits for something that never comes', late: false };
  return { output: output(), value: valueText(context, state.value)?.slice(0, outputCharacters) ?? null };
}

/** What is logged, a line each, until `most` characters are full. */
function addConsole(context: QuickJSContext, most: number): string[] {
  const lines: string[] = [];
  let left = most;
  const log = context.newFunction('log', (...given) => {
    const line = given.map((one) => valueText(context, one) ?? 'undefined').join(' ');
    if (left > 0) lines.push(line.slice(0, left));
    left -= line.length + 1;
  });
  const consoleObject = context.newObject();
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) context.setProp(consoleObject, name, log);
  context.setProp(context.global, 'console', consoleObject);
  return lines;
}

/** Texts as they are, anything else as JSON where it has one. */
function valueText(context: QuickJSContext, value: QuickJSHandle): string | null {
  const type = context.typeof(value);
  if (type === 'undefined') return null;
  if (type === 'object') {
    const json = context.getProp(context.global, 'JSON');
    const stringify = context.getProp(json, 'stringify');
    const text = context.callFunction(stringify, json, value, context.null, context.newNumber(2));
    if (!text.error && context.typeof(text.value) === 'string') return context.getString(text.value);
  }
  // A symbol has no text of its own, and BigInts no JSON.
  return type === 'symbol' ? 'Symbol()' : context.getString(value);
}

function errorText(context: QuickJSContext, error: QuickJSHandle): string {
  const { name, message, stack } = { ...(context.dump(error) as { name?: string; message?: string; stack?: string }) };
  if (message === undefined) return context.getString(error);
  const [, line] = /program\.js:(\d+)/.exec(stack ?? '') ?? [];
  return `${name ?? 'Error'}: ${message}${line === undefined ? '' : ` (line ${line})`}`;
}
