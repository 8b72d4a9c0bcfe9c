import type { CDPSession, Page } from '@playwright/test';
import { expect } from './app.ts';

//  Drags files over the window and drops them, by the events of Chromium itself: what lies under the pointer gets them, and the page
//  sees of them what a browser shows.

type Drag = { over: (x: number, y: number) => Promise<void>; drop: () => Promise<void> };

async function dragging(page: Page, ...files: string[]): Promise<Drag> {
  const session: CDPSession = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  const at = { x: 0, y: 0 };
  const send = (type: 'dragEnter' | 'dragOver' | 'drop') =>
    session.send('Input.dispatchDragEvent', { type, ...at, data });
  let entered = false;
  return {
    async over(x, y) {
      Object.assign(at, { x: Math.round(x), y: Math.round(y) });
      if (!entered) await send('dragEnter');
      entered = true;
      await send('dragOver');
    },
    async drop() {
      await send('drop');
      await session.detach();
    },
  };
}

/** Over the middle of the page first, then over the place with these words, and there let go. */
export async function dropOn(page: Page, target: string | null, ...files: string[]): Promise<void> {
  const drag = await dragging(page, ...files);
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  await drag.over(width / 2, height - 40);
  const dialog = page.getByRole('dialog', { name: /^(Add files to…|Drop to import)$/ });
  await expect(dialog).toBeVisible();
  if (target === null) await drag.over(width / 2, height - 40);
  else {
    const box = await dialog.getByRole('listitem').filter({ hasText: target }).boundingBox();
    if (!box) throw new Error(`[drop] no place for files is called "${target}"`);
    await drag.over(box.x + box.width / 2, box.y + box.height / 2);
  }
  await drag.drop();
  await expect(dialog).toBeHidden();
}
