import type { Verdict } from '../../../app/protocol/index.ts';
import type { Tone } from '../../ui/choice.tsx';

export const toneOf: Record<Verdict, Tone> = {
  same: 'ok',
  slight: 'ok',
  little: 'plain',
  clear: 'warn',
  much: 'bad',
  broken: 'bad',
};
