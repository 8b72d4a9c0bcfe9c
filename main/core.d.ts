import { pipeOfMessagePort } from '../app/engine/port.ts';
import type { CoreOptions, FromCore, ToCore } from './messages.ts';

type Port = Parameters<typeof pipeOfMessagePort>[0];
type Parent = {
  postMessage(message: FromCore): void;
  on(event: 'message', listener: (event: { data: ToCore; ports: Port[] }) => void): void;
};
export declare function runCore(parent: Parent, options: CoreOptions, exit: () => void): Promise<void>;
