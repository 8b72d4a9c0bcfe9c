import {
  createCssVariablesTheme,
  createHighlighterCore,
  type HighlighterCore,
  type LanguageRegistration,
} from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import type { HighlightAnswer, HighlightRequest, Mark, Run } from './highlight.ts';
import { grammarOf } from './languages.ts';

//  Colours code away from the main thread: a long block takes longer than a frame. The regular expressions are
//  JavaScript's own, so that no WebAssembly and no eval is needed.

let highlighter: Promise<HighlighterCore> | null = null;

const start = () =>
  createHighlighterCore({
    themes: [createCssVariablesTheme({ name: 'longhand', variablePrefix: '--' })],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });

const marks: [RegExp, Mark][] = [
  [/comment/, 'comment'],
  [/string|link/, 'string'],
  [/keyword/, 'keyword'],
  [/function|parameter/, 'name'],
  [/constant/, 'number'],
];

const markOf = (color: string | undefined): Mark | null => marks.find(([name]) => name.test(color ?? ''))?.[1] ?? null;

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
