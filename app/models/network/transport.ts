//  One request for a file, to a server or to a disk.

/** Asks once; redirects are not followed. */
export type Open = (url: URL, headers: RequestHeaders, signal: AbortSignal, reach?: Reach) => Promise<Answered>;
/** `public`: a name that leads into the own network is not followed there. */
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
  /** By its name in small letters. */
  header: (name: string) => string | null;
  body: AsyncIterable<Uint8Array>;
  /** Nobody wants the body. */
  cancel: () => void;
};
