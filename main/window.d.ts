import { BrowserWindow } from 'electron';
export declare function createWindow(options: { preload: string; devServer?: string | undefined }): BrowserWindow;
