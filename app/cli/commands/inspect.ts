import type { Description, LayerKind } from '../../../native/addon/index.d.ts';
import { table } from '../runtime/arguments.ts';
import { command } from '../runtime/command.ts';
import { addonOf, modelPath } from '../runtime/open-model.ts';
import { bytes, fixed } from '../runtime/terminal.ts';

export const inspect = command({
  name: 'inspect',
  summary: 'Show a model’s family, layers, tensor types and memory needs, read from its headers.',
  usage: 'PATH',
  words: [1, 1],
  flags: {
    context: {
      kind: 'count',
      value: 'N',
      help: 'context size for the memory estimate (default: all the model supports)',
    },
    tensors: { kind: 'yes', help: 'list every tensor' },
  },
  async run(context, values, [path]) {
    const { terminal } = context;
    const { tensors, files, config, ...description } = await addonOf(context).inspect(modelPath(context, path));
    const at = values.context ?? description.contextLength;
    const memory = memoryAt(description, at);
    const listed = values.tensors ? { tensors } : {};
    if (context.json) terminal.out(`${JSON.stringify({ ...description, files, memory, config, ...listed })}\n`);
    else {
      terminal.out(`${table(rowsOf(description, memory))}\n`);
      for (const notice of description.notices) terminal.out(`${terminal.dim(notice)}\n`);
      for (const problem of description.problems) terminal.out(`${terminal.red(problem)}\n`);
      if (values.tensors)
        terminal.out(`${table(tensors.map(({ name, type, shape }) => [name, type, `[${shape.join(', ')}]`]))}\n`);
    }
    return description.supported ? 0 : 1;
  },
});

/** Exact, computed from the layer declarations: weights, constant states, and the part that grows with the context. */
function memoryAt(description: Description, context: number) {
  const { weightBytes, stateBytes, contextBytesPerToken } = description;
  const contextBytes = contextBytesPerToken * context;
  return { context, weightBytes, stateBytes, contextBytes, totalBytes: weightBytes + stateBytes + contextBytes };
}

function rowsOf(description: Description, memory: ReturnType<typeof memoryAt>): string[][] {
  const { family, container, layers, parameters, types, activeBytes, weightBytes } = description;
  const stored = Object.entries(types).map(([type, size]) => `${type} ${bytes(size)}`);
  return [
    [
      'family',
      `${family} (${container})${description.reranker ? ', cross-encoder' : description.encoder ? ', encoder' : ''}${description.mtp ? ', with MTP head' : ''}`,
    ],
    ['supported', description.supported ? 'yes' : 'no'],
    ['layers', layersOf(layers)],
    [
      'sizes',
      `hidden ${description.hiddenSize}, vocabulary ${description.vocabularySize}, context ${description.contextLength}`,
    ],
    ['parameters', `${fixed(parameters / 1e6)} million`],
    ['types', stored.join(', ')],
    ['per token', `${bytes(activeBytes)} of ${bytes(weightBytes)} read`],
    [
      'memory',
      `${bytes(memory.totalBytes)} at ${memory.context} tokens: weights ${bytes(memory.weightBytes)}, states ${bytes(memory.stateBytes)}, context ${bytes(memory.contextBytes)}`,
    ],
  ];
}

/** [delta, delta, delta, attention, ...] as "24: 18 gated-delta, 6 attention". */
export function layersOf(layers: readonly LayerKind[]): string {
  const counts = new Map<string, number>();
  for (const { kind, experts } of layers) {
    const name = experts ? `${kind} with experts` : kind;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return `${layers.length}: ${[...counts].map(([name, count]) => `${count} ${name}`).join(', ')}`;
}
