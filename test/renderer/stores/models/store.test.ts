import { beforeEach, expect, test, vi } from 'vitest';
import type {
  Download,
  FoundModel,
  ModelEntry,
  ModelId,
  RemoteModel,
  Shrinking,
} from '../../../../app/protocol/index.ts';
import { silentCore } from '../../../support/fakes/silent-core.ts';
import { starter } from '../../../support/fakes/world.ts';

//  Looks at hubs and searches on them: one that failed is not repeated by itself, and an older search does not stand over a newer.

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {}, removeItem: () => {} });
vi.stubGlobal('document', { getElementById: () => null, documentElement: {} });
const { attach } = await import('../../../../renderer/bridge.ts');
const { listenToModels, shareOf, useModels } = await import('../../../../renderer/stores/models/store.ts');
const { copyIn } = await import('../../../../renderer/models/installed/importing.ts');
listenToModels();

const { asked, deliver, answer, refuse } = silentCore(attach);
const models = () => useModels.getState();

const found = (name: string): FoundModel => ({
  source: 'huggingface',
  name,
  downloads: 1,
  likes: null,
  updatedAt: null,
  gated: false,
  runs: true,
});

beforeEach(() => {
  useModels.setState({ looks: {}, finding: { status: 'none' }, tab: 'installed', downloads: [], arrived: null });
});

test('a look that failed is asked again only when somebody wants it', async () => {
  const first = models().look('acme/otter');
  refuse(0, 'network');
  await first;
  expect(models().looks['acme/otter']).toMatchObject({ status: 'failed', failure: { code: 'network' } });
  for (let drawn = 0; drawn < 20; drawn++) await models().look('acme/otter');
  expect(asked).toHaveLength(1);
  const again = models().look('acme/otter', { again: true });
  expect(asked).toHaveLength(2);
  refuse(1, 'network');
  await again;
});

test('whoever looks while one look is under way waits for its answer', async () => {
  const looks = [
    models().look('acme/otter'),
    models().look('acme/otter'),
    models().look('acme/otter', { again: true }),
  ];
  expect(asked).toHaveLength(1);
  refuse(0, 'network');
  await Promise.all(looks);
  expect(asked).toHaveLength(1);
});

test('a first look says so; what is known stays on screen while another of its variants is looked at', async () => {
  const model = (id: string): RemoteModel => ({
    reference: 'acme/otter',
    source: 'huggingface',
    host: 'hub.test',
    repository: 'acme/otter',
    commit: 'c0ffee',
    gated: false,
    variants: [
      {
        id,
        label: id,
        kind: 'gguf',
        bytes: 1,
        description: starter.description as NonNullable<ModelEntry['description']>,
        exact: true,
      },
    ],
  });
  const first = models().look('acme/otter');
  expect(models().looks['acme/otter']).toEqual({ status: 'looking' });
  answer(0, model('Q4_0'));
  await first;
  const other = models().look('acme/otter', { variant: 'Q8_0' });
  expect(models().looks['acme/otter']).toEqual({ status: 'known', model: model('Q4_0') });
  expect(asked[1]?.input).toEqual({ reference: 'acme/otter', variant: 'Q8_0' });
  answer(1, model('Q8_0'));
  await other;
  expect(models().looks['acme/otter']).toEqual({ status: 'known', model: model('Q8_0') });
});

test('the answer to an older search does not take the place of a newer one', async () => {
  const older = models().find('ott');
  const newer = models().find('otter');
  answer(1, [found('acme/otter')]);
  await newer;
  answer(0, [found('acme/ottoman')]);
  await older;
  expect(models().finding).toMatchObject({ status: 'found', models: [{ name: 'acme/otter' }] });
});

const download: Download = {
  id: 'd',
  name: 'otter',
  source: 'folder',
  repository: '/models/otter.gguf',
  variant: '',
  done: 0,
  total: 10,
  status: { phase: 'queued' },
};
const model: ModelEntry = { ...starter, id: 'otter' as ModelId, name: 'otter', description: null };
const begins = () => deliver({ event: 'downloads.changed', payload: [download] });
const arrives = () => deliver({ event: 'download.finished', payload: model });
const leaves = () => deliver({ event: 'downloads.changed', payload: [] });
const answers = () =>
  answer(
    asked.findIndex(({ call }) => call === 'downloads.start'),
    download,
  );

test.each([
  ['the answer comes first', [answers, begins, arrives, leaves]],
  ['it has begun before the answer', [begins, answers, arrives, leaves]],
  ['it is here before the answer, as one that was imported before', [begins, arrives, leaves, answers]],
  ['the list is told before the arrival', [begins, answers, leaves, arrives]],
])('an import ends in the list of installed models, with what came chosen: %s', async (_, order) => {
  // What an earlier import left behind does not count.
  useModels.setState({ arrived: 'earlier' as never });
  const importing = copyIn('/models/otter.gguf');
  for (const step of order) step();
  await importing;
  await vi.waitFor(() => expect(models()).toMatchObject({ tab: 'installed', installed: 'otter', arrived: null }));
});

test('while it is under way the downloads are shown, whatever came before', async () => {
  useModels.setState({ arrived: 'earlier' as never });
  const importing = copyIn('/models/otter.gguf');
  answers();
  await importing;
  begins();
  expect(models()).toMatchObject({ tab: 'downloads', downloads: [download] });
});

test('a list that was asked for before a download ended does not bring it back', async () => {
  const loading = models().load();
  const at = (call: string) => asked.findIndex((frame) => frame.call === call);
  answer(at('downloads.list'), [download]);
  await vi.waitFor(() => expect(models().downloads).toEqual([download]));
  leaves();
  for (const call of ['models.machine', 'catalogue.list', 'library.state']) refuse(at(call), 'network');
  await expect(loading).rejects.toMatchObject({ code: 'network' });
  expect(models().downloads).toEqual([]);
});

test('how far all downloads are is by their bytes, not by their number; without any it is nothing', () => {
  const small = { ...download, done: 100, total: 100 };
  const large = { ...download, done: 200, total: 1900 };
  expect(shareOf([small, large])).toBe(0.15);
  expect(shareOf([{ ...download, done: 0, total: 0 }])).toBeNull();
  expect(shareOf([])).toBeNull();
});

test('that a smaller version is made, or could not be, is told where the page does not show it already', async () => {
  const { useShell } = await import('../../../../renderer/stores/shell.ts');
  const { useToasts } = await import('../../../../renderer/ui/toast.tsx');
  const toastsAfter = (place: 'models' | 'chat', tab: 'installed' | 'catalogue', shrinking: Shrinking) => {
    useShell.getState().go(place === 'chat' ? { kind: 'chat' } : { kind: 'models' });
    useModels.setState({ tab });
    useToasts.setState({ shown: [] });
    deliver({ event: 'model.shrinking', payload: shrinking });
    return useToasts.getState().shown.length;
  };
  const what = { modelId: starter.id, name: 'otter' };
  const done: Shrinking = { status: 'done', ...what, madeId: 'made' as ModelId, quality: null };
  const failed: Shrinking = { status: 'failed', ...what, failure: { code: 'disk-full', message: '[test] full' } };
  const running: Shrinking = { status: 'running', ...what, phase: 'writing', share: 0.5, secondsLeft: null };
  for (const over of [done, failed]) {
    expect(toastsAfter('models', 'installed', over)).toBe(0);
    expect(toastsAfter('models', 'catalogue', over)).toBe(1);
    expect(toastsAfter('chat', 'installed', over)).toBe(1);
  }
  expect(toastsAfter('chat', 'catalogue', running)).toBe(0);
});
