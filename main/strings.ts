import english from '../renderer/strings/en.json' with { type: 'json' };

//  Strings of the shell itself: menus, dialogs, notifications. They are stored with those of the pages.

export const words = english.desktop;
export const errors = english.errors;

/** Interpolates values into a sentence, as the pages do: "{{name}} is ready to use". */
export const fill = (sentence: string, values: Record<string, string>): string =>
  sentence.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole);
