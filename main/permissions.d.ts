/** Closes everything a page could use to reach out: permissions, devices, other pages, windows, and the network. Refused
 *  requests are told to `onBlocked`. `devServer`: the address of vite during development. */
export declare function lockDown(onBlocked: (address: string) => void, devServer?: string): void;
/** Ours, made in the page itself, or the developer tools. */
export declare function isOwn(address: string, devServer?: string): boolean;
