/** Control characters, marks that hide or reverse text, line separators, unpaired surrogates. */
const DECEPTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Whether a name that somebody else gave reads as it is: it is shown in lists, and where consent is asked for. */
export const isReadableName = (name: string): boolean => name.trim() !== '' && !DECEPTIVE.test(name);
