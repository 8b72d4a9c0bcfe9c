import { type MessagePortMain } from 'electron';
/** The few things a page asks of the shell itself. Everything else goes over its port to the core. Only the main frame of
 *  our own page is heard. */
export declare function serveIpc(options: {
  connect: (port: MessagePortMain) => boolean;
  devServer?: string | undefined;
}): {
  /** A core is there: every window gets a port to it. */
  coreReady(): void;
  coreLost(): void;
};
