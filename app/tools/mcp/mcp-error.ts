import type { McpProblem } from '../../protocol/index.ts';

/** Why a server is unavailable. */
export class McpError extends Error {
  readonly problem: McpProblem;
  constructor(problem: McpProblem, message: string) {
    super(message);
    this.name = 'McpError';
    this.problem = problem;
  }
}
