//  Every class of attack, and the files that try it. A file that counts its attacks uses tally.ts (counts.ts in a browser test).

export type AttackClass = {
  readonly title: string;
  readonly files: readonly string[];
};

export const CLASSES = {
  server: {
    title: 'HTTP and WebSocket',
    files: [
      'attack/server/server.test.ts',
      'attack/server/server-access.test.ts',
      'attack/server/uploads.test.ts',
      'attack/server/routes.test.ts',
    ],
  },
  api: {
    title: 'The server for other programs',
    files: [
      'attack/server/api.test.ts',
      'attack/server/network.test.ts',
      'attack/server/api-answers.test.ts',
      'attack/server/api-texts.test.ts',
      'attack/server/key-timing.test.ts',
      'attack/server/routes.test.ts',
    ],
  },
  otherUsers: { title: 'Other users of the computer', files: ['attack/files/other-users.test.ts'] },
  erasure: { title: 'Reading what was deleted', files: ['attack/files/erasure.test.ts'] },
  shell: { title: 'The desktop shell', files: [] },
  stalls: { title: 'Large messages', files: ['attack/stalls.test.ts'] },
  protocol: { title: 'Calls with hostile values', files: ['attack/protocol.test.ts'] },
  messages: {
    title: 'Messages between processes',
    files: ['attack/messages.test.ts', 'app/engine/hanging.test.ts'],
  },
  markup: { title: 'Markdown and mathematics in a browser', files: ['e2e/shell/hostile.spec.ts'] },
  templates: { title: 'Chat templates', files: ['attack/models/templates.test.ts', 'app/text/hostile.test.ts'] },
  tokenizers: {
    title: 'Tokenizers',
    files: [
      'attack/models/tokenizers.test.ts',
      'attack/models/tokenizer-memory.test.ts',
      'app/text/tokenizer/linear-pattern.test.ts',
      'app/text/hostile.test.ts',
    ],
  },
  modelFiles: {
    title: 'Model files, changed at random',
    files: ['attack/models/model-files.test.ts', 'app/text/tokenizer/gguf-tokenizer.test.ts', 'native/formats'],
  },
  hub: {
    title: 'Answers of a hub',
    files: [
      'attack/models/hub.test.ts',
      'attack/models/hub-wire.test.ts',
      'attack/models/network.test.ts',
      'app/models/download.test.ts',
      'app/models/sources/remote-headers.test.ts',
    ],
  },
  toolServers: {
    title: 'Tool servers',
    files: [
      'attack/tools/tool-servers.test.ts',
      'attack/tools/tool-requests.test.ts',
      'attack/tools/prompts.test.ts',
      'attack/tools/suggestions.test.ts',
      'attack/tools/announcements.test.ts',
    ],
  },
  remote: {
    title: 'Remote engines',
    files: ['attack/models/remote-engines.test.ts', 'attack/models/remote-figures.test.ts'],
  },
  documents: {
    title: 'Documents',
    files: ['attack/files/documents.test.ts', 'app/documents/bad-input.test.ts', 'app/chat/injection.test.ts'],
  },
  pictures: { title: 'Pictures', files: ['attack/models/pictures.test.ts'] },
  files: {
    title: 'Files, links and folders',
    files: [
      'attack/files/files.test.ts',
      'attack/files/file-names.test.ts',
      'attack/files/pipes.test.ts',
      'app/documents/import/import.test.ts',
      'app/models/silent-disks.test.ts',
    ],
  },
  terminal: { title: 'Text that orders a terminal about', files: ['app/cli/runtime/terminal.test.ts'] },
  databases: {
    title: 'Databases and clocks',
    files: [
      'attack/files/clock.test.ts',
      'attack/files/stored-rows.test.ts',
      'app/store/store.test.ts',
      'app/chat/kills.test.ts',
    ],
  },
} as const satisfies Record<string, AttackClass>;

export type ClassName = keyof typeof CLASSES;
