import { resolve } from 'node:path';
import { abortFlag } from '../../engine/process/addon.ts';
import { command, MODEL_FLAGS, PRECISION_FLAG, UsageError } from '../runtime/command.ts';
import { openModel } from '../runtime/open-model.ts';
import { readPixels } from '../runtime/pictures.ts';
import { outputFile, writeSafetensors } from '../runtime/safetensors.ts';

export const logits = command({
  name: 'logits',
  summary:
    'Write the logits of a prompt as one F32 tensor `logits` [tokens, vocabulary]: the last row, or every row with --all.',
  usage: '--model PATH --tokens 1,2,3 --out FILE.safetensors',
  flags: {
    ...MODEL_FLAGS,
    ...PRECISION_FLAG,
    tokens: { kind: 'ids', value: '1,2,3', help: 'the prompt' },
    all: { kind: 'yes', help: 'write a row for every token' },
    chunk: { kind: 'count', value: 'N', help: 'tokens per prefill chunk' },
    pixels: {
      kind: 'text',
      value: 'FILE.safetensors',
      help: 'preprocessed images: pixel_values [patches, values] and image_grid_thw [pictures, 3]',
    },
    out: { kind: 'text', value: 'FILE', help: 'file to write' },
  },
  async run(context, values) {
    if (!values.tokens?.length) throw new UsageError('[logits] --tokens is missing, for example --tokens 1,2,3');
    if (values.out === undefined)
      throw new UsageError('[logits] --out is missing, for example --out logits.safetensors');
    const file = outputFile(context.places.here, values.out);
    const pictures = values.pixels === undefined ? [] : readPixels(resolve(context.places.here, values.pixels));
    const path = values.precision === 'fast' ? 'fast' : 'exact';
    const model = await openModel(context, values);
    const { flag, release } = abortFlag(model.addon, context.signal);
    try {
      const session = model.native.createSession({ path });
      const { rows, columns, data } = await session.logits(Int32Array.from(values.tokens), {
        all: values.all ?? false,
        path,
        ...(values.chunk !== undefined && { chunk: values.chunk }),
        pictures,
        signal: flag,
      });
      session.close();
      await writeSafetensors(file, [{ name: 'logits', shape: [rows, columns], data }]);
      const result = { file, rows, columns, path, device: model.native.device.id };
      if (context.json) context.terminal.out(`${JSON.stringify(result)}\n`);
      else context.terminal.out(`${file}: logits [${rows}, ${columns}], ${path} path on ${result.device}\n`);
      return 0;
    } finally {
      release();
      model.close();
    }
  },
});
