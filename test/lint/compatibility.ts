//  Which client was tried with which endpoint and for what: every cell of the table in the README is a test. A cell names it by its
//  file in test/app/server/api and the beginning of its title.

export const features = [
  'whole',
  'streamed',
  'tools',
  'schema',
  'thinking',
  'logprobs',
  'images',
  'cancelled',
] as const;
export type Feature = (typeof features)[number];

/** What the body of a test says when it is about a feature. */
export const wordsOf: Record<Feature, RegExp> = {
  whole: /await/,
  streamed: /stream/,
  tools: /tools|tool_calls/,
  schema: /schema/,
  thinking: /reasoning|thinking/,
  logprobs: /logprobs/,
  images: /image/,
  cancelled: /abort/,
};

export type Row = {
  endpoint: string;
  client: string;
  /** How the client asks this endpoint. */
  asks: RegExp;
  cells: Partial<Record<Feature, [file: string, title: string]>>;
};

const lists: [string, string] = ['clients', 'lists models, answers at once'];
const hangsUp: [string, string] = ['clients', 'a client that hangs up before its answer is whole'];
const ranks: [string, string] = ['clients', 'passages in the order in which they answer a question'];
const continues: [string, string] = ['openai/completions', 'whole and piece by piece, with stop, echo'];
const responds: [string, string] = ['openai/responses', 'whole and streamed says what a chat says'];
const keepsTo: [string, string] = ['openai/responses', 'keeps to a schema, and the helper parses it'];
const isSeen: [string, string] = ['pictures', 'is seen, whoever asks'];
const messages: [string, string] = ['clients', 'messages, streamed and whole'];
const ollama: [string, string] = ['clients', 'tags, show, chat and generate'];
const format: [string, string] = ['structured', 'ollama: a schema as format'];
const vercel: [string, string] = ['frameworks', 'ai: text, whole and streamed'];
const langchain: [string, string] = ['frameworks', 'langchain: text, whole and streamed'];
const given: [string, string] = ['curl', 'the lines that are given, and the same streamed'];
const shapedByCurl: [string, string] = ['curl', 'a schema and tools by curl'];
const goneText: [string, string] = ['hang-up', 'openai: an abort ends a response and a completion'];
const goneMessage: [string, string] = ['hang-up', '@anthropic-ai/sdk: an abort ends a message'];
const goneChat: [string, string] = ['hang-up', 'ollama: an abort ends a chat and a text'];
const shapes: [string, string] = ['structured', 'openai: json_schema and json_object'];

export const rows: Row[] = [
  {
    endpoint: '/v1/chat/completions',
    client: 'openai',
    asks: /\.chat\.completions\.create/,
    cells: {
      whole: lists,
      streamed: lists,
      tools: ['tools', 'openai: a call, whole and streamed'],
      schema: shapes,
      thinking: shapes,
      logprobs: ['openai/completions', 'of a chat: of every token of the answer'],
      images: isSeen,
      cancelled: hangsUp,
    },
  },
  {
    endpoint: '/v1/chat/completions',
    client: 'ai',
    asks: /generateText|streamText/,
    cells: {
      whole: vercel,
      streamed: vercel,
      tools: ['frameworks', 'ai: tools that it runs by itself'],
      schema: ['frameworks', 'ai: an object of a schema'],
      thinking: vercel,
      cancelled: ['frameworks', 'ai: an abort ends the answer'],
    },
  },
  {
    endpoint: '/v1/chat/completions',
    client: '@langchain/openai',
    asks: /langchain\(/,
    cells: {
      whole: langchain,
      streamed: langchain,
      tools: ['frameworks', 'langchain: tools, whole and streamed'],
      schema: ['frameworks', 'langchain: an object of a schema'],
      cancelled: ['frameworks', 'langchain and ai: an abort'],
    },
  },
  {
    endpoint: '/v1/chat/completions',
    client: 'curl',
    asks: /curl/,
    cells: {
      whole: given,
      streamed: given,
      tools: shapedByCurl,
      schema: shapedByCurl,
      cancelled: ['curl', 'an abort of curl ends the answer'],
    },
  },
  {
    endpoint: '/v1/completions',
    client: 'openai',
    asks: /\.completions\.create/,
    cells: {
      cancelled: goneText,
      whole: continues,
      streamed: continues,
      logprobs: ['openai/completions', 'are those of a softmax of the logits'],
    },
  },
  {
    endpoint: '/v1/responses',
    client: 'openai',
    asks: /\.responses\.(create|stream|parse)/,
    cells: {
      whole: responds,
      streamed: responds,
      cancelled: goneText,
      tools: ['openai/responses', 'calls of functions are items'],
      schema: keepsTo,
      thinking: ['openai/responses', 'thinking is an item of its own'],
      logprobs: keepsTo,
    },
  },
  { endpoint: '/v1/embeddings', client: 'openai', asks: /\.embeddings\.create/, cells: { whole: ranks } },
  { endpoint: '/v1/embeddings', client: '@langchain/openai', asks: /OpenAIEmbeddings/, cells: { whole: langchain } },
  { endpoint: '/v1/rerank', client: 'openai', asks: /'\/rerank'/, cells: { whole: ranks } },
  { endpoint: '/v1/models', client: 'openai', asks: /\.models\.list/, cells: { whole: lists } },
  {
    endpoint: '/v1/messages',
    client: '@anthropic-ai/sdk',
    asks: /\.messages\.(create|stream)/,
    cells: {
      whole: messages,
      streamed: messages,
      tools: ['tools', '@anthropic-ai/sdk: tool_use blocks'],
      schema: ['structured', 'openai and anthropic: a tool has to be called'],
      thinking: messages,
      images: isSeen,
      cancelled: goneMessage,
    },
  },
  {
    endpoint: '/v1/messages/count_tokens',
    client: '@anthropic-ai/sdk',
    asks: /\.countTokens/,
    cells: { whole: messages, images: isSeen },
  },
  {
    endpoint: '/api/chat',
    client: 'ollama',
    asks: /ollama\.chat|local\.chat/,
    cells: {
      whole: ollama,
      streamed: ollama,
      tools: ['tools', 'ollama: tool_calls with arguments'],
      schema: format,
      thinking: ollama,
      images: isSeen,
      cancelled: goneChat,
    },
  },
  {
    endpoint: '/api/generate',
    client: 'ollama',
    asks: /ollama\.generate/,
    cells: { whole: ollama, streamed: goneChat, schema: format, logprobs: ollama, cancelled: goneChat },
  },
  { endpoint: '/api/embed', client: 'ollama', asks: /ollama\.embed/, cells: { whole: ollama } },
  { endpoint: '/api/tags', client: 'ollama', asks: /ollama\.list/, cells: { whole: ollama } },
  { endpoint: '/api/show', client: 'ollama', asks: /ollama\.show/, cells: { whole: ollama } },
  { endpoint: '/api/ps', client: 'ollama', asks: /ollama\.ps/, cells: { whole: ollama } },
];

export function tableOf(): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['endpoint', 'client', ...features]),
    line(['---', '---', ...features.map(() => ':---:')]),
    ...rows.map(({ endpoint, client, cells }) =>
      line([`\`${endpoint}\``, `\`${client}\``, ...features.map((feature) => (cells[feature] ? '✓' : ''))]),
    ),
  ].join('\n');
}
