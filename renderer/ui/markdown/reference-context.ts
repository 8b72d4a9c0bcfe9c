import { createContext, type ReactNode, useContext } from 'react';

/** How a number in brackets and a remark are rendered. Null leaves the number as text. */
export type References = { cite: (number: number) => ReactNode | null; remark: (index: number) => ReactNode };

const Context = createContext<References | null>(null);

export const ReferenceProvider = Context.Provider;
export const useReferences = (): References | null => useContext(Context);
