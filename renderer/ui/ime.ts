import type { KeyboardEvent } from 'react';

/** While an input method composes a word, Return and Escape belong to it: they only end the composition. Safari ends it
 *  before the key event, which is recognisable only by its key code. */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229;
