import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, sceneTest as test } from '../app.ts';

//  Pictures for the eye, in both themes and at the three widths of the design: test/e2e/screens/. They are written when
//  LONGHAND_SCREENS is set; otherwise the pages are only opened, at every width, then dark, and must neither overflow nor
//  complain.

const folder = join(import.meta.dirname, '../screens');
const sizes = [
  { width: 720, height: 900 },
  { width: 1024, height: 768 },
  { width: 1440, height: 900 },
];

type SectionName = 'appearance' | 'thinking' | 'tools' | 'engine' | 'downloads' | 'storage' | 'privacy' | 'shortcuts';

/** `complaint`: what the browser says of the fault that is shown. */
type Shot = { name: string; scene: string; prepare?: (page: Page) => Promise<unknown>; complaint?: RegExp };

const section = (name: SectionName) => (page: Page) =>
  page.evaluate((chosen) => window.page.useShell.getState().go({ kind: 'settings', section: chosen }), name);
const overlay = (name: 'model-picker' | 'chat-settings' | 'branches' | 'tools') => (page: Page) =>
  page.evaluate((chosen) => window.page.useChat.getState().setOverlay({ kind: chosen }), name);
/** The menu of the model that is shown. */
const openOptions = (page: Page) =>
  page
    .getByRole('main')
    .getByRole('button', { name: /^Options for/ })
    .click();

/** The dialog of one test, with its forecast. */
const openTest = (name: string) => async (page: Page) => {
  await page.getByRole('button', { name: new RegExp(`^Test( again)?… ${name}$`) }).click();
  await page
    .getByRole('dialog')
    .getByText(/^(Time|Details)$/)
    .first()
    .waitFor();
};
const openComparison = async (page: Page) => {
  await page.getByRole('button', { name: 'Compare two models…' }).click();
  await page.getByRole('combobox', { name: 'Model A' }).click();
  await page.getByRole('option', { name: 'Qwen3.5 9B' }).click();
};

const shots: Shot[] = [
  { name: 'chat', scene: 'chat' },
  { name: 'branches', scene: 'branches', prepare: overlay('branches') },
  { name: 'crash', scene: 'crash' },
  { name: 'pictures', scene: 'pictures' },
  { name: 'pictures-unseen', scene: 'pictures-unseen' },
  {
    name: 'picture-large',
    scene: 'pictures',
    prepare: (page) => page.getByRole('button', { name: 'Enlarge ridge-at-dusk.jpg' }).click(),
  },
  { name: 'broken-message', scene: 'broken', complaint: /reading 'map'/ },
  {
    name: 'broken-page',
    scene: 'empty',
    prepare: (page) => page.evaluate(() => window.page.useChat.setState({ drafts: null as never })),
    complaint: /reading 'new'/,
  },
  { name: 'empty', scene: 'empty' },
  { name: 'onboarding', scene: 'onboarding' },
  { name: 'overflow', scene: 'overflow' },
  { name: 'palette', scene: 'chat', prepare: (page) => page.keyboard.press('Control+k') },
  { name: 'thinking', scene: 'thinking' },
  { name: 'server', scene: 'server' },
  {
    name: 'server-request',
    scene: 'server',
    prepare: (page) => page.getByRole('row').nth(2).getByRole('button').first().click(),
  },
  {
    name: 'server-options',
    scene: 'server',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Options', exact: true }).click();
      await page.getByRole('switch', { name: 'Other devices on your network' }).click();
    },
  },
  { name: 'server-taken', scene: 'server-taken' },
  {
    name: 'server-connect',
    scene: 'server',
    prepare: (page) => page.getByRole('button', { name: 'Connect a program' }).click(),
  },
  {
    name: 'tools',
    scene: 'tools',
    prepare: async (page) => {
      await page.getByRole('button', { name: /^Calculator 8/ }).click();
      await page.getByRole('button', { name: /^notes_read_media_file/ }).click();
    },
  },
  { name: 'tools-menu', scene: 'tools', prepare: overlay('tools') },
  {
    name: 'prompts',
    scene: 'tools',
    prepare: async (page) => {
      await overlay('tools')(page);
      await page.getByRole('button', { name: 'Insert a prompt…' }).click();
    },
  },
  {
    name: 'prompts-blanks',
    scene: 'tools',
    prepare: async (page) => {
      await overlay('tools')(page);
      await page.getByRole('button', { name: 'Insert a prompt…' }).click();
      await page.getByRole('button', { name: /^Summarise a note/ }).click();
    },
  },
  {
    name: 'prompts-suggestions',
    scene: 'tools',
    prepare: async (page) => {
      await overlay('tools')(page);
      await page.getByRole('button', { name: 'Insert a prompt…' }).click();
      await page.getByRole('button', { name: /^Summarise a note/ }).click();
      await page.getByRole('combobox', { name: 'note' }).pressSequentially('L');
      await page.getByRole('listbox').waitFor();
      await page.keyboard.press('ArrowDown');
      await page.getByRole('option', { selected: true }).waitFor();
    },
  },
  { name: 'loop', scene: 'loop' },
  {
    name: 'speed',
    scene: 'speed',
    prepare: (page) => page.getByRole('button', { name: /^Speed of this answer/ }).click(),
  },
  { name: 'performance', scene: 'performance' },
  {
    name: 'compare',
    scene: 'performance',
    prepare: async (page) => {
      const rows = page.getByRole('button', { name: /^Compare Qwen/ });
      await rows.nth(0).click();
      await rows.nth(1).click();
      await page.getByRole('button', { name: 'Compare A and B' }).click();
    },
  },
  { name: 'models', scene: 'chat', prepare: overlay('model-picker') },
  { name: 'models-installed', scene: 'models' },
  { name: 'models-catalogue', scene: 'catalogue' },
  { name: 'models-downloads', scene: 'downloads' },
  { name: 'models-moving', scene: 'models-moving' },
  { name: 'remote', scene: 'remote' },
  {
    name: 'remote-add',
    scene: 'remote',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Add an engine' }).click();
      await page.getByRole('textbox', { name: 'Address, with or without /v1' }).fill('http://192.168.1.31:8000');
      await page.getByRole('button', { name: 'Test connection' }).click();
      await page.getByText('Connected. 2 models found.').waitFor();
    },
  },
  { name: 'remote-passages', scene: 'passages' },
  {
    name: 'model-settings',
    scene: 'models',
    prepare: async (page) => {
      await openOptions(page);
      await page.getByRole('menuitem', { name: 'Model settings…' }).click();
    },
  },
  {
    name: 'shrink',
    scene: 'shrink',
    prepare: async (page) => {
      await openOptions(page);
      await page.getByRole('menuitem', { name: 'Make a smaller version…' }).click();
      await page.getByRole('radio', { name: /^Weighted by a text/ }).waitFor();
    },
  },
  {
    name: 'shrink-again',
    scene: 'models',
    prepare: async (page) => {
      await page.getByRole('button', { name: /^Qwen3.5 9B/ }).click();
      await page.getByRole('button', { name: 'Options for Qwen3.5 9B' }).click();
      await page.getByRole('menuitem', { name: 'Make a smaller version…' }).click();
      await page.getByRole('radio', { name: 'GGUF' }).click();
    },
  },
  {
    name: 'latent',
    scene: 'latent',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Options for Llama 3.2 3B' }).click();
      await page.getByRole('menuitem', { name: 'Shrink its memory…' }).click();
      await page.getByText('Advanced').click();
      await page.getByRole('dialog').getByRole('slider').press('End');
    },
  },
  {
    name: 'latent-refused',
    scene: 'shrink',
    prepare: async (page) => {
      await openOptions(page);
      await page.getByRole('menuitem', { name: /^Shrink its memory…/ }).waitFor();
    },
  },
  { name: 'latent-done', scene: 'latent-done' },
  {
    name: 'trial',
    scene: 'trial',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Try side by side…' }).click();
      await page
        .getByRole('textbox', { name: 'Ask both models something' })
        .fill('Why is the sky blue? In two sentences.');
      await page.getByRole('button', { name: 'Ask both' }).click();
    },
  },
  { name: 'quality', scene: 'quality' },
  {
    name: 'quality-parts',
    scene: 'quality',
    prepare: async (page) => {
      for (const part of await page.getByText('Part by part').all()) await part.click();
      await page.getByText('Export as JSON').scrollIntoViewIfNeeded();
    },
  },
  { name: 'quality-running', scene: 'quality-running' },
  { name: 'quality-waiting', scene: 'quality-waiting' },
  {
    name: 'quality-test',
    scene: 'quality',
    prepare: async (page) => {
      await openTest('Distance from another model')(page);
      const name = 'Gesammelte Briefe an die Verwaltung der Donaudampfschifffahrtsgesellschaft.txt';
      const input = page.getByRole('dialog').locator('input[type=file]');
      await input.setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('Words.') });
      await page.getByRole('dialog').getByText('Time', { exact: true }).waitFor();
    },
  },
  { name: 'quality-reasoning', scene: 'quality-tight', prepare: openTest('Reasoning') },
  {
    name: 'quality-reading',
    scene: 'quality-tight',
    prepare: async (page) => {
      await page.getByRole('button', { name: /Questions about texts/ }).click();
      const buffer = Buffer.from(
        '{"context": "Ann has a red bicycle.", "input": "What is red?", "answers": ["bicycle"]}',
      );
      const file = { name: 'leases.jsonl', mimeType: 'application/jsonl', buffer };
      await page.getByRole('dialog').locator('input[type=file]').setInputFiles(file);
      await page.getByRole('dialog').getByText('Time', { exact: true }).waitFor();
    },
  },
  {
    name: 'quality-wrong',
    scene: 'quality',
    prepare: async (page) => {
      await openTest('Finding a detail')(page);
      await page.getByRole('textbox', { name: 'Lengths' }).fill('a thousand');
    },
  },
  { name: 'quality-refused', scene: 'quality-refused', prepare: openTest('Perplexity on a text') },
  { name: 'quality-compare', scene: 'quality', prepare: openComparison },
  { name: 'quality-alike', scene: 'quality-alike', prepare: openComparison },
  { name: 'shrink-running', scene: 'shrink-running' },
  { name: 'shrink-failed', scene: 'shrink-failed' },
  {
    name: 'shrink-card',
    scene: 'shrink-card',
    prepare: (page) => page.getByRole('region', { name: 'What it cost' }).scrollIntoViewIfNeeded(),
  },
  { name: 'chat-settings', scene: 'chat', prepare: overlay('chat-settings') },
  { name: 'documents', scene: 'documents' },
  { name: 'documents-text', scene: 'documents-text' },
  { name: 'documents-list', scene: 'documents-list' },
  { name: 'documents-collection', scene: 'documents-collection' },
  { name: 'documents-empty', scene: 'documents-empty' },
  { name: 'sources', scene: 'sources' },
  { name: 'sources-gone', scene: 'sources-gone' },
  { name: 'quotes', scene: 'quotes' },
  { name: 'not-found', scene: 'not-found' },
  { name: 'settings-appearance', scene: 'empty', prepare: section('appearance') },
  { name: 'settings-thinking', scene: 'empty', prepare: section('thinking') },
  {
    name: 'settings-tools',
    scene: 'tools',
    prepare: async (page) => {
      await section('tools')(page);
      await page.getByRole('button', { name: '3 tools' }).click();
    },
  },
  {
    name: 'settings-tools-add',
    scene: 'tools',
    prepare: async (page) => {
      await section('tools')(page);
      await page.getByRole('button', { name: 'Add server' }).click();
    },
  },
  { name: 'settings-engine', scene: 'empty', prepare: section('engine') },
  { name: 'settings-downloads', scene: 'empty', prepare: section('downloads') },
  {
    name: 'settings-storage',
    scene: 'empty',
    prepare: async (page) => {
      await page.evaluate(() => Object.assign(window.page.core.world.packed, { bytes: 1.4e9, models: 3 }));
      await section('storage')(page);
    },
  },
  {
    name: 'library-move',
    scene: 'empty',
    prepare: async (page) => {
      await section('storage')(page);
      await page.getByRole('button', { name: 'Move…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Move models' });
      await dialog.getByRole('textbox').fill('/media/ada/Models');
      await dialog.getByRole('status').waitFor();
    },
  },
  { name: 'settings-privacy', scene: 'empty', prepare: section('privacy') },
  { name: 'settings-shortcuts', scene: 'empty', prepare: section('shortcuts') },
];

for (const { name, scene: sceneName, prepare, complaint } of shots) {
  test(`${name} at every width, and dark`, async ({ page, scene, problems }) => {
    test.slow();
    // A picture wants everything drawn, and a page of its own for each; otherwise one window grows, and then turns dark.
    const pictures = Boolean(process.env.LONGHAND_SCREENS);
    const settle = pictures ? 900 : 150;
    const light = sizes.map((size) => ({ size, theme: 'light' as const }));
    const dark = sizes.map((size) => ({ size, theme: 'dark' as const }));
    for (const [turn, { size, theme }] of [...light, ...(pictures ? dark : dark.slice(-1))].entries()) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      if (pictures || turn === 0) {
        await scene(sceneName);
        await page.waitForTimeout(settle);
        await prepare?.(page);
      }
      await page.waitForTimeout(settle / 3);
      const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      await expect.poll(overflow, { message: `${theme} ${size.width}` }).toBeLessThanOrEqual(0);
      if (pictures) await page.screenshot({ path: join(folder, `${name}-${theme}-${size.width}.png`) });
    }
    expect(problems.filter((problem) => !complaint?.test(problem))).toEqual([]);
    // The fault is there, and not only a page without it.
    if (complaint) expect(problems).not.toEqual([]);
  });
}
