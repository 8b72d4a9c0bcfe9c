import { command, MODEL_FLAGS, UsageError } from '../runtime/command.ts';
import { openModel, textOf } from '../runtime/open-model.ts';

export const embed = command({
  name: 'embed',
  summary: 'Print the embedding of a text.',
  usage: '--model PATH --text T',
  flags: { ...MODEL_FLAGS, text: { kind: 'text', value: 'T', help: 'the text' } },
  async run(context, values) {
    if (values.text === undefined) throw new UsageError('[embed] --text is missing');
    const model = await openModel(context, values);
    try {
      const { tokenizer } = await textOf(model.addon, model.path);
      const { before, after } = tokenizer.around;
      const room = model.native.contextLength - before.length - after.length;
      const inside = tokenizer.encodeText(values.text);
      const ids = [...before, ...inside.slice(0, room), ...after];
      const embedding = Array.from(await model.native.embed(Int32Array.from(ids)));
      const cut = inside.length > room;
      if (cut)
        context.terminal.note(
          `[embed] the text has ${inside.length} tokens, but only ${room} fit; the rest was left out`,
        );
      if (context.json) context.terminal.out(`${JSON.stringify({ embedding, tokens: ids.length, truncated: cut })}\n`);
      else context.terminal.out(`${embedding.map((value) => value.toPrecision(6)).join(' ')}\n`);
      return 0;
    } finally {
      model.close();
    }
  },
});
