export type Address = {
  url: string;
  /** Sent to the host of `url` only, never to another host after a redirect. */
  token?: string;
};
