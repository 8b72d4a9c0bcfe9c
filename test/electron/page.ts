import type { Shell } from './shell.ts';
import { waitFor } from './wait.ts';

//  What a person does in the page, and sees there.

/** The window is there and the page has drawn its first words. */
export async function opened(shell: Shell): Promise<void> {
  await waitFor('a window', () => shell.main('return window.isVisible()'));
  await waitFor('the page', () => shell.page('return document.body.innerText.length > 20'));
}

/** Past the first start, to an empty chat with the built-in model. */
export async function atChat(shell: Shell): Promise<void> {
  await opened(shell);
  await shell.click('Start chatting');
  await composer(shell);
}

const composer = (shell: Shell) =>
  waitFor('the composer', () => shell.page(`return Boolean(document.querySelector('textarea'))`));

export const says = (shell: Shell, text: string): Promise<boolean> =>
  shell.page(`return document.body.innerText.includes(${JSON.stringify(text)})`);

/** Answers that are complete: each shows how fast it was written. */
export const answers = (shell: Shell): Promise<number> =>
  shell.page(`return (document.body.innerText.match(/tok\\/s/g) || []).length`);

/** The answer to a question that was asked once is complete. A long chat is not in the page as a whole, so its answers cannot be counted. */
export const isAnswered = (shell: Shell, question: string): Promise<boolean> =>
  shell.page(`const text = document.body.innerText, at = text.lastIndexOf(${JSON.stringify(question)});
    return at >= 0 && /tok\\/s/.test(text.slice(at))`);

/** Types a question and sends it, with the keyboard. */
export async function ask(shell: Shell, question: string): Promise<void> {
  await typed(shell, question);
  await waitFor('the question in the chat', async () => {
    await pressReturn(shell);
    return shell.page(`return document.querySelector('textarea').value === ''`);
  });
}

/** The question in the composer, not sent. */
export async function typed(shell: Shell, question: string): Promise<void> {
  await composer(shell);
  await shell.main(`window.focus(); window.webContents.focus()`);
  await waitFor('the question in the composer', async () => {
    await shell.page(`document.querySelector('textarea').focus(); document.querySelector('textarea').select()`);
    await shell.main(`await window.webContents.insertText(${JSON.stringify(question)})`);
    return shell.page(`return document.querySelector('textarea').value === ${JSON.stringify(question)}`);
  });
}

export const pressReturn = (shell: Shell): Promise<unknown> =>
  shell.main(
    `for (const type of ['keyDown', 'char', 'keyUp']) window.webContents.sendInputEvent({ type, keyCode: '\\u000d' })`,
  );

/** Asks and waits for the whole answer. */
export async function answered(shell: Shell, question: string): Promise<void> {
  const before = await answers(shell);
  await ask(shell, question);
  await waitFor(`an answer to "${question}"`, async () => {
    if ((await answers(shell)) > before) return true;
    // What the page says instead is part of the complaint.
    throw new Error(await shell.page('return document.body.innerText.slice(-400)'));
  });
}

/** Clicks an item of the menu bar by its words. The app may end with it. */
export const menu = (shell: Shell, label: string): Promise<unknown> =>
  shell.main(`const items = electron.Menu.getApplicationMenu().items.flatMap(({ submenu }) => submenu.items);
    const found = items.find((item) => item.label === ${JSON.stringify(label)});
    setImmediate(() => found.click(undefined, window));
    return found.label`);
