import { isElectron, isMac } from '../bridge.ts';

/** macOS draws the buttons of the window over the page. */
export const trafficLights = () => isElectron() && isMac();
