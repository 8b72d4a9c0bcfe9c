import type { NetworkLogEntry } from '../../protocol/index.ts';
import type { Network } from './http-request.ts';

/** The purpose of a request, as shown on the Privacy page. */
export type RequestPurpose = Pick<NetworkLogEntry, 'reason' | 'about'>;
export type Via = (why: RequestPurpose) => Network;
