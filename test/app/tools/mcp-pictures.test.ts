import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { ToolUseId } from '../../../app/protocol/index.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { newFolder, readMessage } from '../../support/core/core.ts';
import { ask, call, decide, program, start, written } from './tool-servers.ts';

test('pictures of results: of other versions too, none where it is no picture, gone with their chat', async () => {
  const folder = newFolder();
  const png = (
    await sharp({ create: { width: 40, height: 30, channels: 3, background: '#345' } })
      .png()
      .toBuffer()
  ).toString('base64');
  const image = (data: string, mimeType: string) => ({ type: 'image', data, mimeType });
  const blob = { type: 'resource', resource: { uri: 'shot://1', mimeType: 'image/png', blob: png } };
  const sound = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
  const content = [
    { type: 'text', text: 'Two.' },
    image(png, 'image/png'),
    image('bm8gcGljdHVyZQ==', 'image/png'),
    blob,
    sound,
  ];
  const many = Array.from({ length: 9 }, () => image(png, 'image/png'));
  const body = `else if (method === 'tools/call') send(id, { content: calls++ % 2 ? ${JSON.stringify(many)} : ${JSON.stringify(content)} });`;
  const { client, heard, host, dataFolder } = await start([
    `${call('cam_go', { at: 1 })}\n${call('cam_go', { at: 2 })}`,
    'Seen.',
    'Seen again.',
  ]);
  const servers = await client.call('mcp.add', { servers: [program('cam', written(folder, body, 'let calls = 0;'))] });
  decide(client, ['chat']);
  const { chat, end } = await ask(client, heard, servers);
  const message = await end();
  const [first, second] = message.toolUses;
  expect(first?.result?.split('\n')).toEqual([
    'Two.',
    '[picture 1, image/png, 1 KB: the user sees it, you do not]',
    '[picture 2, image/png, 1 KB: the user sees it, you do not]',
    '[picture 3, image/png, 1 KB, shot://1: the user sees it, you do not]',
    '[audio/wav, 1 KB: left out]',
    '[picture-2.png cannot be decoded, and is not shown]',
  ]);
  expect(first?.pictures.map(({ name, picture }) => [name, picture])).toEqual([
    ['picture-1.png', { width: 40, height: 30 }],
    ['picture-3.png', { width: 40, height: 30 }],
  ]);
  expect(second?.pictures).toHaveLength(8);
  expect(second?.result?.split('\n').at(-1)).toBe('[image/png, 1 KB: left out]');
  // They belong to their call, not to what somebody attached.
  expect(message.attachments).toEqual([]);

  const again = await client.call('turns.runToolAgain', { messageId: message.id, useId: second?.id as ToolUseId });
  await heard.end(again.turnId);
  const [before, made] = (await readMessage(client, chat.id, again.messageId)).toolUses;
  expect([before?.pictures.length, made?.pictures.length]).toEqual([2, 2]);
  const files = () => readdirSync(join(dataFolder, 'pictures'));
  expect(files()).toHaveLength(1);
  await host.close();
  const db = openDatabase(join(dataFolder, 'longhand.db'));
  db.run('DELETE FROM messages WHERE id = ?', message.id);
  expect(db.all('SELECT DISTINCT message_id FROM attachments')).toEqual([{ message_id: again.messageId }]);
  db.close();
});
