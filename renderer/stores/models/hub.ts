/** The host that resolves names like `org/name`. */
export const hubOf = (mirror: string | null): string => (mirror === null ? 'huggingface.co' : new URL(mirror).host);

/** Whether a text is the name or address of one model rather than a search. */
export const isReference = (text: string): boolean =>
  /^(https?:\/\/\S+|[\w.-]+\/[\w.-]+(@\S+)?|(\/|~\/|[a-zA-Z]:\\).+)$/.test(text.trim());
