//  One request for a file, to a server or a disk.

/** Sends one request; redirects are not followed. */
export type Open = (url: URL, headers: RequestHeaders, signal: AbortSignal, reach?: Reach) => Promise<Answered>;
/** `public`: a name that resolves to a private address is refused. */
export type Reach = 'public' | 'anywhere';
export type RequestHeaders = {
  range?: string;
  authorization?: string;
  'user-agent'?: string;
  accept?: string;
  'accept-encoding': string;
};
/** An answer before its body. */
export type Answered = {
  status: number;
  /** By lower-case name. */
  header: (name: string) => string | null;
  body: AsyncIterable<Uint8Array>;
  /** Discards the body. */
  cancel: () => void;
};
