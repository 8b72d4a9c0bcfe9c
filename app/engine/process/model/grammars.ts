import type * as Addon from '../../../../native/addon/index.d.ts';
import { LonghandError } from '../../../protocol/index.ts';
import type { ModelText } from '../../../text/model-text.ts';
import { openingIds, thinkingIds } from '../../../text/thinking.ts';
import { tokenTexts } from '../../../text/tokenizer/token-texts.ts';
import { callFormatOf } from '../../../text/tool-calls/call-formats.ts';
import { answerGrammar } from '../../../text/tool-calls/call-grammar.ts';
import type { Generation, GrammarText } from '../../ipc-protocol.ts';

/** Compiled grammars of one model, in an LRU cache. */
export type Grammars = { compiled(grammar: GrammarText): Promise<Addon.Grammar> };

const MAX_CACHED = 16;

export function createGrammars(addon: typeof Addon, text: ModelText, rows: number): Grammars {
  const cached = new Map<string, Promise<Addon.Grammar>>();
  let vocabulary: Promise<Addon.Vocabulary> | null = null;

  const read = () => {
    const { bytes, ends } = tokenTexts(text.tokenizer, rows);
    return addon.vocabulary(bytes, ends);
  };

  async function compile(grammar: GrammarText): Promise<Addon.Grammar> {
    vocabulary ??= read();
    if (grammar.kind !== 'calls') return (await vocabulary).grammar(grammar.kind, grammar.text);
    const format = callFormatOf(text.template);
    if (!format)
      throw new LonghandError('model-unsupported', '[tools] this model’s chat template does not support tools');
    return (await vocabulary).grammar('parts', JSON.stringify(answerGrammar(format, grammar, text.tokenizer)));
  }

  return {
    compiled(grammar) {
      const key = JSON.stringify(grammar);
      const known = cached.get(key) ?? compile(grammar);
      cached.delete(key);
      cached.set(key, known);
      known.catch(() => cached.delete(key));
      const [oldest] = cached.keys();
      if (cached.size > MAX_CACHED && oldest !== undefined) cached.delete(oldest);
      return known;
    },
  };
}

/** Tells the addon where the constrained answer begins. */
export function boundAnswer(
  { tokenizer, thinking }: ModelText,
  inThinking: boolean,
  mayThink: boolean,
): Pick<Addon.GenerateOptions, 'thinking' | 'opens' | 'closes'> {
  if (!thinking) return {};
  return {
    thinking: inThinking ? 'open' : mayThink ? 'may-open' : 'none',
    opens: openingIds(tokenizer, thinking),
    closes: thinkingIds(tokenizer, thinking.close),
  };
}

/** The grammar that constrains the answer of a turn. */
export async function boundBy(
  { grammars, text }: { grammars: Grammars; text: ModelText },
  { grammar, prompt }: Pick<Generation, 'grammar' | 'prompt'>,
  inThinking: boolean,
): Promise<Partial<Addon.GenerateOptions>> {
  if (!grammar) return {};
  return { grammar: await grammars.compiled(grammar), ...boundAnswer(text, inThinking, prompt.thinking) };
}
