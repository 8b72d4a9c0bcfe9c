import type { Page } from '@playwright/test';

//  The page of documents, as tests use it.

export type File = { name: string; mimeType: string; buffer: Buffer };

export const pdf = (name: string, buffer: Uint8Array): File => ({
  name,
  mimeType: 'application/pdf',
  buffer: Buffer.from(buffer),
});

export const openDocuments = (page: Page) =>
  page
    .getByRole('button', { name: /^Documents/ })
    .first()
    .click();
export const upload = (page: Page, ...files: File[]) =>
  page.locator('input[type=file][aria-label="Add files"]').setInputFiles(files);
export const list = (page: Page) => page.getByRole('navigation', { name: 'Documents' });

/** The words of the text layer that lie under the marks of a strength, in reading order. */
export const wordsUnder = (page: Page, strength: 'current' | 'soft') =>
  page.evaluate((wanted) => {
    const marks = [...document.querySelectorAll(`.paper [data-mark="${wanted}"]`)].map((one) =>
      one.getBoundingClientRect(),
    );
    const words: string[] = [];
    for (const layer of document.querySelectorAll('.textlayer')) {
      const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const match of (node.nodeValue ?? '').matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(node, match.index);
          range.setEnd(node, match.index + match[0].length);
          const box = range.getBoundingClientRect();
          const x = box.x + box.width / 2;
          const y = box.y + box.height / 2;
          if (marks.some((mark) => x > mark.left && x < mark.right && y > mark.top && y < mark.bottom))
            words.push(match[0]);
        }
      }
    }
    return words.join(' ');
  }, strength);
