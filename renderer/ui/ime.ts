import type { KeyboardEvent } from 'react';

/** While an input method composes a word, Return and Escape are its keys: they end the word, and do nothing else. Safari
 *  ends the composition before the key, and says so by its code alone. */
export const isComposing = ({ nativeEvent }: KeyboardEvent): boolean =>
  nativeEvent.isComposing || nativeEvent.keyCode === 229;
