import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withAttachments } from '../../../app/chat/prompt/prompt.ts';
import { groundedSystem, NOT_FOUND } from '../../../app/chat/prompt/rag-prompt.ts';
import type { Location, Source } from '../../../app/protocol/index.ts';

//  The built-in model was trained on the app's prompts, word by word: the generator of its data keeps copies of them. Whoever
//  changes a prompt learns here that the model does not know the new one.

const data = join(import.meta.dirname, '../../../resources/starter-model/train/data');
const rules = readFileSync(join(data, 'rules.txt'), 'utf8').trim();
const generator = readFileSync(join(data, 'prompt.py'), 'utf8');

const source = (number: number, location: Location | null, text: string): Source =>
  ({ number, name: 'lease.pdf', location, text }) as Source;

test('passages are laid before the model as it was trained', () => {
  const sources = [
    source(1, { kind: 'page', page: 3 }, 'The rent is 840 euros.'),
    source(2, null, 'Pets are welcome.'),
  ];
  const passages = '[1] (lease.pdf, p. 3) The rent is 840 euros.\n[2] (lease.pdf) Pets are welcome.';
  expect(groundedSystem(sources, '')).toBe(`${rules}\n${passages}`);
  expect(groundedSystem(sources, 'Be brief.')).toBe(`Be brief.\n\n${rules}\n${passages}`);
});

test('what it is told to say when nothing is found', () => {
  expect(rules).toContain(NOT_FOUND);
  expect(generator).toContain(`REFUSE = "${NOT_FOUND}"`);
});

test('a file that goes along with a message', () => {
  const attached = withAttachments(
    'Who pays?',
    [{ name: 'lease.txt', text: 'The tenant pays.\n', picture: null }],
    true,
  );
  expect(attached).toBe('lease.txt:\n```\nThe tenant pays.\n```\n\nWho pays?');
  expect(generator).toContain('return f"{name}:\\n```\\n{text}\\n```\\n\\n{question}"');
});

test('the request for a title', () => {
  const titles = readFileSync(join(import.meta.dirname, '../../../app/chat/titles.ts'), 'utf8');
  const request = /^TITLE = "(.*)"$/m.exec(generator)?.[1];
  expect(request).toBeDefined();
  expect(titles).toContain(request);
});
