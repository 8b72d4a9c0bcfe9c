//  Configuration for other programs, ready to paste. KEY stands for a key, which only its creator has seen.

export const clients = ['curl', 'openai', 'anthropic', 'continue', 'ollama'] as const;
export type ClientName = (typeof clients)[number];

export const nameOfClient: Record<ClientName, string> = {
  curl: 'curl',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  continue: 'Continue',
  ollama: 'Ollama',
};

/** @param address with its port and no path */
export function linesFor(client: ClientName, address: string, model: string): string {
  switch (client) {
    case 'curl':
      return `curl ${address}/v1/chat/completions \\
  -H "Authorization: Bearer KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello!"}]}'`;
    case 'openai':
      return `from openai import OpenAI

client = OpenAI(base_url="${address}/v1", api_key="KEY")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`;
    case 'anthropic':
      return `from anthropic import Anthropic

client = Anthropic(base_url="${address}", api_key="KEY")
answer = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.content[-1].text)`;
    case 'continue':
      return `models:
  - name: Longhand
    provider: openai
    model: ${model}
    apiBase: ${address}/v1
    apiKey: KEY
    roles: [chat, edit, apply]`;
    case 'ollama':
      return `import { Ollama } from 'ollama'

const ollama = new Ollama({
  host: '${address}',
  headers: { Authorization: 'Bearer KEY' },
})
const answer = await ollama.chat({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.message.content)`;
  }
}
