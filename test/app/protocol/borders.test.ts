import { expect, test } from 'vitest';
import { createSwitchboard, type Handlers, pipePair, SettingsPatch } from '../../../app/protocol/index.ts';

test('a pipe that closed hears nothing more, and is not kept', async () => {
  const switchboard = createSwitchboard({} as Handlers);
  const [mine, its] = pipePair<never, never>();
  switchboard.add(its as never);
  const heard: unknown[] = [];
  mine.onMessage((frame) => heard.push(frame));
  expect(switchboard.clients()).toBe(1);
  mine.close();
  await new Promise((go) => setTimeout(go, 10));
  expect(switchboard.clients()).toBe(0);
  switchboard.emit('notice', { code: 'read-only', details: {} });
  await new Promise((go) => setTimeout(go, 10));
  expect(heard).toEqual([]);
});

test.each([-1, 601, 0.5, 1e9, '20', null])('the wait of the loop guard cannot be %s', (waitSeconds) => {
  const loopGuard = { sensitivity: 'balanced', inAnswers: true, action: 'ask', waitSeconds };
  expect(SettingsPatch.safeParse({ loopGuard }).success).toBe(false);
  expect(SettingsPatch.safeParse({ loopGuard: { ...loopGuard, waitSeconds: 20 } }).success).toBe(true);
});
