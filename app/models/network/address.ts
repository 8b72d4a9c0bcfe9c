export type Address = {
  url: string;
  /** Sent to the host of `url` only, never along a redirect to another host. */
  token?: string;
};
