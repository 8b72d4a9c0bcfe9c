import type { Chat, ModelEntry, RemoteEngineId } from '../../../app/protocol/index.ts';
import { useModels } from '../../../renderer/stores/models/store.ts';
import { useShell } from '../../../renderer/stores/shell.ts';
import { newMessage, starter } from '../../support/fakes/world.ts';
import { put, worldOfMocks } from './mock-chats.ts';
import type { Scene } from './model-scenes.ts';

//  Two remote engines: one of the local network, one that is another program of this computer.

const lab = 'lab' as RemoteEngineId;
const engines = [
  {
    id: lab,
    name: 'Workstation',
    address: 'http://192.168.1.20:8000/v1',
    host: '192.168.1.20:8000',
    here: false,
    plain: true,
    key: true,
    createdAt: 1,
  },
  {
    id: 'studio' as RemoteEngineId,
    name: 'LM Studio',
    address: 'http://127.0.0.1:1234/v1',
    host: '127.0.0.1:1234',
    here: true,
    plain: false,
    key: false,
    createdAt: 2,
  },
];

const model = (
  name: string,
  at: number,
  asNamed: string,
  contextLength: number | null,
  pictures = false,
): ModelEntry => {
  const { id: engineId, name: engine, host, here } = engines[at] as (typeof engines)[number];
  const remote = { engineId, engine, host, here, model: asNamed, contextLength, pictures };
  const id = name as ModelEntry['id'];
  return { ...starter, id, name, builtIn: false, description: null, remote };
};

function remoteWorld() {
  const { world, chats } = worldOfMocks();
  world.remoteEngines = engines;
  world.models = [
    ...world.models,
    model('Qwen3.5-122B-A10B-FP8', 0, 'Qwen/Qwen3.5-122B-A10B-FP8', 131_072),
    model('gemma-3-27b-it', 0, 'google/gemma-3-27b-it', 65_536, true),
    model('lfm2-8b-a1b', 1, 'lfm2-8b-a1b', null),
  ];
  return { world, chats, large: world.models.find(({ name }) => name.startsWith('Qwen3.5-122B')) as ModelEntry };
}

export function remoteEnginesScene(): Scene {
  const { world } = remoteWorld();
  const after = () => {
    useModels.setState({ tab: 'remote' });
    useShell.getState().go({ kind: 'models' });
  };
  return { world, after };
}

/** A chat with documents whose model runs on another computer. */
export function passagesScene(): Scene {
  const { world, chats, large } = remoteWorld();
  const chat = { ...(chats.get('Letter to the landlord') as Chat), modelId: large.id };
  const question = newMessage(chat.id, 'user', { text: 'By when do I have to give notice?' });
  const failure = {
    code: 'permission' as const,
    message: '[turns] passages of documents are not sent to a remote engine by themselves',
    details: { reason: 'passages-stay', engineId: lab },
  };
  const answer = newMessage(chat.id, 'assistant', { state: { status: 'failed', failure }, modelName: large.name });
  return put(world, chat, [question, answer]);
}
