import { beforeEach } from 'vitest';
import type { CallFrame, CoreFrame, ErrorCode } from '../../../app/protocol/index.ts';
import type { attach } from '../../../renderer/bridge.ts';

//  A core behind the page's bridge that says nothing by itself: tests read what was asked, and answer.

export type SilentCore = {
  /** What the page has asked since the test began, in order. */
  readonly asked: CallFrame[];
  deliver(frame: CoreFrame): void;
  /** Answers the request at this place in `asked`. */
  answer(at: number, value: unknown): void;
  refuse(at: number, code?: ErrorCode): void;
};

/** `attachTo`: the bridge's `attach`, imported after the globals that it reads. Attached anew before each test. */
export function silentCore(attachTo: typeof attach): SilentCore {
  let heard: (frame: CoreFrame) => void = () => {};
  const asked: CallFrame[] = [];
  beforeEach(() => {
    asked.length = 0;
    attachTo({
      send: (frame) => void ('call' in frame && asked.push(frame)),
      onMessage: (listener) => {
        heard = listener;
      },
      onClose: () => {},
      close: () => {},
    });
  });
  const idOf = (at: number) => asked[at]?.id ?? 0;
  return {
    asked,
    deliver: (frame) => heard(frame),
    answer: (at, value) => heard({ id: idOf(at), value } as CoreFrame),
    refuse: (at, code = 'internal') =>
      heard({ id: idOf(at), failure: { code, message: '[test] refused' } } as CoreFrame),
  };
}
