export declare const pageOrigin = 'longhand://app';
export declare const pageAddress = 'longhand://app/';
/** Before the app is ready: a scheme of our own, secure like https, without the rights of file:. */
export declare function registerScheme(): void;
export declare function servePage(folder: string): void;
export declare function answer(
  folder: string,
  request: {
    url: string;
    method: string;
  },
): Promise<Response>;
