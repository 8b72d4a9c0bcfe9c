/** A program that npm cannot bring: whether it is there, the packages that have it, what needs it. */
export type Tool = {
  found: () => boolean;
  apt: string[];
  brew?: string[];
  mac?: string;
  why: string;
  /** Tests that need it are skipped, with the reason, where it cannot be had. */
  optional?: boolean;
};
export type ToolName =
  | 'compiler'
  | 'cmake'
  | 'clang'
  | 'clangFormat'
  | 'chromium'
  | 'vulkan'
  | 'arm64'
  | 'poppler'
  | 'window'
  | 'pip';
export const TOOLS: Record<ToolName, Tool>;
export function browserPath(): string | null;
export function provide(names: readonly string[], tools?: Record<string, Tool>, platform?: string): Promise<void>;
