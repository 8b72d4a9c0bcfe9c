import { createContext, useContext } from 'react';

/** True where text is shown as source, without any Markdown. */
const Context = createContext(false);

export const PlainProvider = Context.Provider;
export const usePlain = (): boolean => useContext(Context);
