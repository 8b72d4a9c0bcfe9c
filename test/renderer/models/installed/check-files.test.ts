import { expect, test } from 'vitest';
import type { ClientFrame, CoreFrame, Failure, ModelEntry } from '../../../../app/protocol/index.ts';
import { attach } from '../../../../renderer/bridge.ts';
import { checkFiles } from '../../../../renderer/models/installed/check-files.ts';

const entry = (id: string) => ({ id, name: id }) as unknown as ModelEntry;
const names = (all: readonly ModelEntry[]) => all.map(({ name }) => name);
const failure = (code: Failure['code'], reason: string) => ({ code, message: `[test] ${reason}`, details: { reason } });

/** What a core says of each model's files. */
const SAYS: Record<string, { value: unknown } | { failure: Failure }> = {
  whole: { value: { modelId: 'whole', bytes: 8192, damaged: [], again: 0 } },
  damaged: { value: { modelId: 'damaged', bytes: 8192, damaged: ['model.safetensors'], again: 4096 } },
  away: { failure: failure('model-missing', 'unmounted') },
  silent: { failure: failure('unreadable', 'disk') },
  foreign: { failure: failure('bad-request', 'not-ours') },
};

function connect(): string[] {
  const verified: string[] = [];
  let deliver: (frame: CoreFrame) => void = () => {};
  attach({
    send(frame: ClientFrame) {
      if ('cancel' in frame) return;
      const { modelId } = frame.input as { modelId: string };
      const { id } = frame;
      if (frame.call === 'models.details') {
        const ownership = modelId === 'linked' ? 'external' : 'downloaded';
        return deliver({
          id,
          value: { modelId, ownership, origin: null, bytes: 8192, frees: 0, checkedAt: null, quality: null },
        });
      }
      verified.push(modelId);
      deliver({ id, ...SAYS[modelId] } as CoreFrame);
    },
    onMessage: (listener) => {
      deliver = listener;
    },
    onClose: () => {},
    close: () => {},
  });
  return verified;
}

test('a drive that is away, or a disk that does not answer, says nothing about the files: only what differs is damaged', async () => {
  const verified = connect();
  const begun: string[] = [];
  const models = ['whole', 'away', 'linked', 'damaged', 'silent', 'foreign'].map(entry);
  const { checked, damaged, unchecked } = await checkFiles(models, ({ name }) => begun.push(name));
  expect(names(damaged)).toEqual(['damaged']);
  expect(names(unchecked)).toEqual(['away', 'silent']);
  expect(checked).toBe(2);
  expect(verified).toEqual(['whole', 'away', 'damaged', 'silent', 'foreign']);
  expect(begun).toEqual(verified);
});
