import type { Settings } from '../../../app/protocol/index.ts';
import { isMac } from '../../bridge.ts';

type Keys = { key: string; shiftKey: boolean; altKey: boolean; ctrlKey: boolean; metaKey: boolean };

export const hasMod = ({ ctrlKey, metaKey }: Pick<Keys, 'ctrlKey' | 'metaKey'>): boolean =>
  isMac() ? metaKey : ctrlKey;

/** Whether these keys send the message: one setting for every field. */
export const sends = (event: Keys, sendWith: Settings['sendWith']): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.altKey && (sendWith === 'enter' || hasMod(event));
