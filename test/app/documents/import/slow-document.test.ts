import { expect, test, vi } from 'vitest';
import type { ParserProcess, StartParser } from '../../../../app/documents/parse/fork-parser.ts';
import { type Document, pipePair } from '../../../../app/protocol/index.ts';
import { openShelf } from '../../../support/documents/documents.ts';

//  A document that takes long does not keep the others waiting.

/** Reads everything at once, but never comes to an end with `slow.txt` before `patient()`. */
function reading(patient: () => boolean) {
  const begun: string[] = [];
  const start: StartParser = async () => {
    const [pipe, its] = pipePair<never, never>() as unknown as [ParserProcess['pipe'], ParserProcess['pipe']];
    let end = () => {};
    const ended = new Promise<{ how: string; lastWords: string }>((resolve) => {
      end = () => resolve({ how: 'signal SIGKILL', lastWords: '' });
    });
    its.onMessage((message) => {
      const { read } = message as unknown as { read?: { fileName: string } };
      if (!read) return;
      begun.push(read.fileName);
      if (read.fileName === 'slow.txt' && !patient()) return;
      its.send({ done: { metadata: { title: null, pages: null }, notices: [] } } as never);
    });
    return { pipe, ended, kill: () => end() } as ParserProcess;
  };
  return { start, begun };
}

test('a document that takes long lets the others go first, and is read in the end', async () => {
  const ready: string[] = [];
  const parser = reading(() => ready.length === 2);
  const shelf = await openShelf({
    turnMs: 50,
    startParser: parser.start,
    onEvent(name, payload) {
      const { state, fileName } = payload as Document;
      if (name === 'document.changed' && state.status === 'ready' && !ready.includes(fileName)) ready.push(fileName);
    },
  });
  const all = await shelf.add({ 'slow.txt': 'A heron.', 'z-b.txt': 'An otter.', 'z-c.txt': 'A kingfisher.' });
  expect(ready).toEqual(['z-b.txt', 'z-c.txt', 'slow.txt']);
  for (const { state } of all) expect(state).toEqual({ status: 'ready' });
  expect(parser.begun.filter((name) => name === 'slow.txt').length).toBeGreaterThan(1);
}, 60_000);

test('alone it takes its time', async () => {
  let patient = false;
  const parser = reading(() => patient);
  const shelf = await openShelf({ turnMs: 5, startParser: parser.start });
  const adding = shelf.add({ 'slow.txt': 'A heron.' });
  await vi.waitFor(() => expect(parser.begun).toEqual(['slow.txt']));
  // Many of its turns.
  await new Promise((later) => setTimeout(later, 100));
  expect(parser.begun).toEqual(['slow.txt']);
  patient = true;
  const { id } = (await shelf.call('documents.list', {}))[0] as Document;
  await shelf.call('documents.remove', { documentId: id });
  await adding;
}, 60_000);
