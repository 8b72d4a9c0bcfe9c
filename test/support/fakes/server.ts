import type { Handlers, ServerKey, ServerRequest, ServerState, ServerTexts } from '../../../app/protocol/index.ts';

export type ServerWorld = {
  state: ServerState;
  keys: ServerKey[];
  requests: ServerRequest[];
  texts: ServerTexts | null;
};

/** The API server of the fake core. */
export const fakeServer = (server: ServerWorld): Pick<Handlers, Extract<keyof Handlers, `server.${string}`>> => ({
  'server.state': () => server.state,
  'server.retry': () => undefined,
  'server.keys': () => server.keys,
  'server.addKey': ({ name }) => {
    const added = {
      id: String(server.keys.length + 1),
      name,
      hint: 'lh-7c1e…90ba',
      createdAt: 0,
      usedAt: null,
    };
    server.keys = [added, ...server.keys];
    return { key: 'lh-7c1eT1m0JkqJm2fZb0s8wWqPzv5r90ba', added };
  },
  'server.revokeKey': ({ id }) => {
    server.keys = server.keys.filter((key) => key.id !== id);
  },
  'server.requests': () => server.requests,
  'server.texts': () => server.texts,
  'server.stop': () => undefined,
  'server.clear': () => undefined,
});
