/** What a program that npm cannot bring is called by the systems that have it, and whether it is there. */
export type Tool = { found: () => boolean; apt: string[]; why: string };
export const TOOLS: Record<'window', Tool>;
