import type { NetworkLogEntry } from '../../protocol/index.ts';
import type { Network } from './http-request.ts';

/** What a request is for, as the privacy page tells it. */
export type RequestPurpose = Pick<NetworkLogEntry, 'reason' | 'about'>;
export type Via = (why: RequestPurpose) => Network;
