import { command } from '../runtime/command.ts';
import { addonOf, modelPath, textOf } from '../runtime/open-model.ts';

export const tokenize = command({
  name: 'tokenize',
  summary: 'Turn text into token ids. Special tokens are recognised unless --plain is given.',
  usage: '--model PATH --text T',
  flags: {
    model: {
      kind: 'text',
      value: 'PATH',
      help: 'folder with tokenizer.json, .gguf file, "assistant" (default) or "starter"',
    },
    text: { kind: 'text', value: 'T', help: 'the text' },
    plain: { kind: 'yes', help: 'treat special tokens as plain text' },
    special: { kind: 'yes', help: 'include the tokens added around a text (BOS, [CLS] … [SEP])' },
  },
  async run(context, values) {
    const { tokenizer } = await textOf(addonOf(context), modelPath(context, values.model));
    const text = values.text ?? '';
    const inside = values.plain ? tokenizer.encodeText(text) : tokenizer.encode(tokenizer.split(text));
    const { before, after } = tokenizer.around;
    // Encoders always need their special tokens.
    const ids = values.special || after.length > 0 ? [...before, ...inside, ...after] : inside;
    const pieces = ids.map((id) => Buffer.from(tokenizer.bytes.of(id)).toString('utf8'));
    if (context.json) context.terminal.out(`${JSON.stringify({ ids, pieces })}\n`);
    else context.terminal.out(`${ids.join(',')}\n`);
    return 0;
  },
});
