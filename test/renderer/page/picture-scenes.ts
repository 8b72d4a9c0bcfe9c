import type { Attachment, Chat } from '../../../app/protocol/index.ts';
import { useChat } from '../../../renderer/stores/chat/store.ts';
import { newMessage } from '../../support/fakes/world.ts';
import { put, timings, usage, worldOfMocks } from './mock-chats.ts';
import type { Scene } from './model-scenes.ts';

const picture = (id: string, name: string, width: number, height: number, tokens: number | null): Attachment => ({
  id: id as never,
  name,
  bytes: 2_340_000,
  tokens,
  picture: { width, height },
});

/** A chat about two pictures, with two more in the composer. `sees`: whether its model does. */
export function pictureScene(sees: boolean): Scene {
  const { world, chats } = worldOfMocks();
  const chat = chats.get('Why decode speed stays flat') as Chat;
  const vision = sees ? { token: 1, merge: 2 } : null;
  world.models = world.models.map((model) =>
    model.description ? { ...model, description: { ...model.description, vision } } : model,
  );
  const question = newMessage(chat.id, 'user', {
    text: 'Which of the two was taken in the evening, and how can you tell?',
    attachments: [
      picture('p1', 'ridge-at-dusk.jpg', 4032, 3024, 1008),
      picture('p2', 'a very long name that somebody gave to a panorama of the whole valley.png', 2400, 600, 900),
    ],
  });
  const answer = newMessage(chat.id, 'assistant', {
    text: 'The first one. The sun stands low, the shadows on the ridge are long, and the sky has turned from blue to sand.',
    timings,
    usage,
  });
  const scene = put(world, chat, [question, answer]);
  const tokens = sees ? 1008 : null;
  return {
    ...scene,
    after: () =>
      useChat.setState((state) => ({
        attachments: {
          ...state.attachments,
          [chat.id]: [picture('p3', 'morning.webp', 1600, 1200, tokens), picture('p4', 'map.png', 900, 1400, tokens)],
        },
      })),
  };
}
