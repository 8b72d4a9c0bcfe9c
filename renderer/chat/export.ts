import type { Message } from '../../app/protocol/index.ts';

/** The shown branch as one Markdown text. */
export function chatAsMarkdown(title: string, branch: readonly Message[], [you, answer]: [string, string]): string {
  const turns = branch.map(
    (message) => `## ${message.role === 'user' ? you : (message.modelName ?? answer)}\n\n${message.text}`,
  );
  return [`# ${title}`, ...turns].join('\n\n');
}
