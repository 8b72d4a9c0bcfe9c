import {
  createHighlighterCore,
  type HighlighterCore,
  type LanguageRegistration,
  type ThemeRegistration,
} from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import type { HighlightAnswer, HighlightRequest, Mark, Run } from './highlight-queue.ts';
import { grammarOf } from './languages.ts';

//  Highlights code off the main thread, since a long block takes longer than a frame. The regular expressions are
//  JavaScript's own, so that no WebAssembly and no eval is needed.

let highlighter: Promise<HighlighterCore> | null = null;

/** The five marks of tokens.css as a theme. Its colours only encode the mark's index in this list. */
const marks: readonly Mark[] = ['keyword', 'string', 'number', 'name', 'comment'];
const colorOf = (mark: Mark) => `#00000${marks.indexOf(mark) + 1}`;
const PLAIN = '#000000';
const rule = (mark: Mark, scope: string[]) => ({ scope, settings: { foreground: colorOf(mark) } });

const theme: ThemeRegistration = {
  name: 'longhand',
  type: 'light',
  colors: { 'editor.foreground': PLAIN, 'editor.background': '#ffffff' },
  settings: [
    { settings: { foreground: PLAIN } },
    rule('keyword', [
      'keyword',
      'storage',
      'entity.name.tag',
      'constant.language',
      'variable.language',
      'support.type.property-name',
    ]),
    { scope: ['keyword.operator'], settings: { foreground: PLAIN } },
    rule('keyword', [
      'keyword.operator.logical.python',
      'keyword.operator.new',
      'keyword.operator.expression',
      'keyword.operator.word',
    ]),
    rule('string', ['string', 'markup.inserted', 'constant.character']),
    rule('number', ['constant.numeric', 'constant.other', 'markup.changed']),
    rule('name', [
      'entity.name.function',
      'entity.name.type',
      'entity.name.class',
      'markup.deleted',
      'entity.other.attribute-name',
    ]),
    rule('comment', ['comment', 'punctuation.definition.comment']),
  ],
};

const start = () =>
  createHighlighterCore({ themes: [theme], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) });

const markOf = (color: string | undefined): Mark | null => marks.find((mark) => colorOf(mark) === color) ?? null;

async function highlight({ text, language }: HighlightRequest): Promise<Run[][] | null> {
  const grammar = await grammarOf(language);
  if (!grammar) return null;
  highlighter ??= start();
  const ready = await highlighter;
  await ready.loadLanguage(grammar.default as LanguageRegistration[]);
  const lines = ready.codeToTokensBase(text, { lang: language, theme: 'longhand', tokenizeMaxLineLength: 2000 });
  return lines.map((line) => line.map((token): Run => [token.content, markOf(token.color)]));
}

self.onmessage = async (event: MessageEvent<HighlightRequest>) => {
  const answer: HighlightAnswer = { id: event.data.id, lines: await highlight(event.data).catch(() => null) };
  self.postMessage(answer);
};
