import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import type * as Addon from '../../../native/addon/index.d.ts';
import { spreadOf } from '../../protocol/index.ts';
import { table } from '../runtime/arguments.ts';
import { type Context, command, MODEL_FLAGS, PRECISION_FLAG, UsageError } from '../runtime/command.ts';
import { modelNameOf, openModel } from '../runtime/open-model.ts';
import { bytes, fixed } from '../runtime/terminal.ts';

export const bench = command({
  name: 'bench',
  summary: 'Measure how fast a model runs here. The first run is a warm-up and is not counted.',
  usage: '[--model PATH]',
  flags: {
    ...MODEL_FLAGS,
    ...PRECISION_FLAG,
    'prompt-tokens': { kind: 'count', was: 'read', value: 'N', help: 'prompt length in tokens (default: 512)' },
    'gen-tokens': { kind: 'count', was: 'write', value: 'N', help: 'answer length in tokens (default: 64)' },
    runs: { kind: 'count', value: 'N', help: 'number of measured runs (default: 5)' },
    profile: { kind: 'yes', help: 'one more run that times each GPU kernel' },
  },
  async run(context, values) {
    const [read, write, runs] = [values['prompt-tokens'] ?? 512, values['gen-tokens'] ?? 64, values.runs ?? 5];
    if (read < 1 || write < 2 || runs < 1)
      throw new UsageError('[bench] --prompt-tokens must be at least 1, --gen-tokens at least 2, --runs at least 1');
    const path = values.precision === 'exact' ? 'exact' : 'fast';
    const model = await openModel(context, values);
    try {
      const results = await measure(context, model.native, { read, write, runs, path });
      const kernels = values.profile ? await profile(context, model.native, { read, write, runs: 0, path }) : undefined;
      const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, load: loadavg()[0] ?? 0 };
      const report = {
        model: modelNameOf(context, values.model),
        device: model.native.device.id,
        path,
        read,
        write,
        runs: results.length,
        prefill_tokens_per_second: spread(results.map(({ timings }) => (read * 1000) / timings.prefillMs)),
        decode_tokens_per_second: spread(
          results.map(({ timings, tokens }) => ((tokens.length - 1) * 1000) / timings.decodeMs),
        ),
        first_token_ms: spread(results.map(({ timings }) => timings.firstTokenMs)),
        peak_memory_bytes: peakMemory(),
        machine,
        build: model.addon.build,
        ...(kernels && { kernels }),
      };
      if (context.json) context.terminal.out(`${JSON.stringify(report)}\n`);
      else {
        print(context, report);
        if (kernels) printKernels(context, kernels);
      }
      return context.signal.aborted ? 130 : 0;
    } finally {
      model.close();
    }
  },
});

type Plan = { read: number; write: number; runs: number; path: Addon.NumericPath };

async function measure(context: Context, native: Addon.Model, plan: Plan): Promise<Addon.GenerateResult[]> {
  const bar = context.terminal.progress('measuring');
  const results: Addon.GenerateResult[] = [];
  // Ids spread over the vocabulary: a repeated token would be read from a warm cache.
  const prompt = Int32Array.from({ length: plan.read }, (_, i) => (i * 7919 + 17) % native.vocabularySize);
  for (let run = 0; run <= plan.runs && !context.signal.aborted; ++run) {
    bar.show(run, plan.runs + 1);
    const session = native.createSession({ contextLength: plan.read + plan.write, path: plan.path });
    const options = { maxTokens: plan.write, temperature: 0, path: plan.path };
    const result = await session.generate(prompt, options);
    session.close();
    if (run > 0) results.push(result);
  }
  bar.end();
  return results;
}

type KernelTimes = Awaited<ReturnType<Addon.Model['kernelTimes']>>;

/** Time of each kernel running alone, slowest first; empty if the device cannot measure it. */
async function profile(context: Context, native: Addon.Model, plan: Plan): Promise<KernelTimes> {
  if (!(await native.profile())) return [];
  await measure(context, native, plan);
  return (await native.kernelTimes()).toSorted((a, b) => b.ms - a.ms);
}

function printKernels({ terminal }: Context, kernels: KernelTimes) {
  if (kernels.length === 0) {
    terminal.out('\nthis device does not report kernel times\n');
    return;
  }
  const all = kernels.reduce((sum, { ms }) => sum + ms, 0);
  const rows = kernels.map(({ name, count, ms }) => [name, `${count}`, fixed(ms, 2), `${fixed((100 * ms) / all)} %`]);
  terminal.out(`\n${table([['kernel', 'runs', 'ms', 'share'], ...rows])}\n`);
}

type Spread = { median: number; least: number; most: number };
const spread = (values: readonly number[]): Spread => ({
  median: spreadOf(values)?.median ?? 0,
  least: values.length === 0 ? 0 : Math.min(...values),
  most: values.length === 0 ? 0 : Math.max(...values),
});

/** The most memory this process ever held, mapped files included. */
function peakMemory(): number {
  try {
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'));
    if (peak) return Number(peak[1]) * 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}

function print(
  { terminal }: Context,
  report: { [Key in 'prefill_tokens_per_second' | 'decode_tokens_per_second' | 'first_token_ms']: Spread } & {
    model: string;
    device: string;
    path: string;
    read: number;
    write: number;
    runs: number;
    peak_memory_bytes: number;
    machine: { cpu: string; cores: number; load: number };
  },
) {
  const row = (name: string, { median, least, most }: Spread) => [name, fixed(median), fixed(least), fixed(most)];
  const { machine } = report;
  terminal.out(
    `${report.model} on ${report.device}, ${report.path} path, ${report.runs} runs of ${report.read} + ${report.write} tokens\n`,
  );
  terminal.out(`${machine.cpu}, ${machine.cores} cores, load ${fixed(machine.load, 2)}\n\n`);
  terminal.out(
    `${table([
      ['', 'median', 'least', 'most'],
      row('prefill tokens/s', report.prefill_tokens_per_second),
      row('decode tokens/s', report.decode_tokens_per_second),
      row('first token ms', report.first_token_ms),
    ])}\n\npeak memory ${bytes(report.peak_memory_bytes)}\n`,
  );
}
