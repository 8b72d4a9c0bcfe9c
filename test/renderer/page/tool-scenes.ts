import type {
  AttachmentId,
  Chat,
  McpServer,
  McpServerId,
  McpTool,
  ToolUse,
  ToolUseId,
  TurnId,
} from '../../../app/protocol/index.ts';
import type { TurnProgress } from '../../../renderer/stores/chat/reducers.ts';
import { useChat } from '../../../renderer/stores/chat/store.ts';
import { newMessage, nextId } from '../../support/fakes/world.ts';
import { put, timings, usage, worldOfMocks } from './mock-chats.ts';
import type { Scene } from './model-scenes.ts';

const use = (change: Partial<ToolUse>): ToolUse => ({
  id: nextId<ToolUseId>('use'),
  name: 'calculator',
  arguments: '{}',
  result: null,
  pictures: [],
  state: { status: 'done', ms: 3 },
  step: 0,
  textAt: 0,
  thinkingAt: 0,
  ...change,
});

const tool = (name: string, kind: McpTool['kind'], description: string, always = false): McpTool => ({
  name: `notes_${name}`,
  title: name,
  description,
  kind,
  always,
});

const servers: McpServer[] = [
  {
    id: 'mcp-1' as McpServerId,
    name: 'notes',
    target: 'npx -y @modelcontextprotocol/server-filesystem /home/ada/notes',
    remote: false,
    secrets: [],
    state: { status: 'ready' },
    tools: [
      tool('read_text_file', 'reads', 'Read the complete contents of a file as text.', true),
      tool('list_directory', 'reads', 'Get a listing of all files and directories in a path.'),
      tool('write_file', 'destroys', 'Create a new file or overwrite an existing one.'),
    ],
    prompts: [
      {
        name: 'summarise',
        title: 'Summarise a note',
        description: 'The main points of one note, in as many sentences as you like.',
        arguments: [
          { name: 'note', description: 'Name of the note, without its ending', required: true },
          { name: 'sentences', description: '', required: false },
        ],
        suggests: true,
      },
      { name: 'week', title: 'Plan the week', description: 'What is due, by day.', arguments: [], suggests: true },
    ],
  },
  {
    id: 'mcp-2' as McpServerId,
    name: 'Tickets',
    target: 'https://tickets.example/mcp',
    remote: true,
    secrets: ['Authorization'],
    state: { status: 'failed', problem: 'refused', detail: 'fetch failed' },
    tools: [],
    prompts: [],
  },
];

/** An answer with calls that went well, badly and not at all, and one whose third call is being written. */
export function toolsScene(): Scene {
  const { world, chats } = worldOfMocks();
  const chat = { ...(chats.get('Letter to the landlord') as Chat), tools: ['calculator', 'clock'] };
  const intro = 'I will look up the date first, and then work out what you paid too much.\n\n';
  const middle = 'The rent was lowered in March, so it is eight months.\n\n';
  const answered = newMessage(chat.id, 'assistant', {
    text: `${intro}${middle}You paid **€ 614.40** too much, until 23 November 2026.`,
    toolUses: [
      use({ name: 'clock', arguments: '{"zone":"Europe/Berlin"}', textAt: intro.length, result: 'Monday, 2026-11-23' }),
      use({
        name: 'weather',
        arguments: '{"city":"Berlin","days":3}',
        textAt: intro.length,
        result: 'Error: there is no tool "weather"',
        state: { status: 'failed', problem: 'unknown', ms: 0 },
      }),
      use({
        arguments: '{"expression":"8 * (1180 - 1103.20)"}',
        step: 1,
        textAt: intro.length + middle.length,
        result: '614.4',
      }),
      use({
        name: 'notes_read_media_file',
        arguments: '{"path":"/home/ada/notes/the-view.png"}',
        step: 1,
        textAt: intro.length + middle.length,
        result: '[picture 1, image/png, 14 KB: the user sees it, you do not]',
        pictures: [
          {
            id: nextId<AttachmentId>('picture'),
            name: 'picture-1.png',
            bytes: 14_336,
            tokens: null,
            picture: { width: 210, height: 130 },
          },
        ],
      }),
    ],
    timings,
    usage,
  });
  world.mcp = servers;
  for (const { name, tools } of servers) {
    world.tools.push(...tools.map((tool) => ({ ...tool, server: name, builtIn: false })));
  }
  const turnId = 'turn-tools' as TurnId;
  const running = newMessage(chat.id, 'assistant', {
    text: 'One moment.\n\n',
    toolUses: [
      use({ arguments: '{"expression":"614.40 / 8"}', textAt: 13, state: { status: 'running' } }),
      use({
        name: 'notes_write_file',
        arguments: '{"path":"/home/ada/notes/rent.md","content":"# Rent\\n\\n614.40 / 8 = 76.80"}',
        textAt: 13,
        state: { status: 'asking', destroys: true, host: null },
      }),
      use({ name: 'clock', textAt: 13, state: { status: 'waiting' } }),
    ],
    state: { status: 'running', turnId },
  });
  const scene = put(world, chat, [
    newMessage(chat.id, 'user', { text: 'How much rent did I pay too much since March?' }),
    answered,
    newMessage(chat.id, 'user', { text: 'And a month?' }),
    running,
  ]);
  const live: TurnProgress = {
    turnId,
    startedAt: -800,
    reading: null,
    thinking: null,
    answerTokens: 40,
    firstTokenAt: 0,
    pause: null,
    similar: null,
    calling: 84,
  };
  return { ...scene, after: () => setTimeout(() => useChat.setState({ live: new Map([[running.id, live]]) }), 400) };
}
