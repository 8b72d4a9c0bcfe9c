/** Where the parts of the app are. Packaged, everything that is no JavaScript lies in the resources folder, outside the
 *  archive, because it is mapped or loaded by the system. */
export type Paths = {
  core: string;
  engine: string;
  worker: string;
  preload: string;
  renderer: string;
  addon: string;
  migrations: string;
  resources: string;
};
export declare function pathsOf(options: { root: string; resources: string; packaged: boolean }): Paths;
