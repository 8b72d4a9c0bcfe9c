/** The host that names like `org/name` are asked of. */
export const hubOf = (mirror: string | null): string => (mirror === null ? 'huggingface.co' : new URL(mirror).host);

/** Whether a text is the name or the address of one model, and not words to search for. */
export const isReference = (text: string): boolean =>
  /^(https?:\/\/\S+|[\w.-]+\/[\w.-]+(@\S+)?|(\/|~\/|[a-zA-Z]:\\).+)$/.test(text.trim());
