//  What is used of the SDK, in one file that is loaded with the first server: its schemas take a third of a second to build.

export { Client } from '@modelcontextprotocol/sdk/client/index.js';
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
export { createProgramTransport } from './program-transport.ts';
