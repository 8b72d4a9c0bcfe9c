/** Whether a chat thinks before it answers, as the page names it; null in the protocol is what the model does by itself. */
export type Thinks = 'off' | 'auto' | 'on';
export const thinksOf = (thinking: boolean | null): Thinks => (thinking === null ? 'auto' : thinking ? 'on' : 'off');
export const thinkingOf = (name: Thinks): boolean | null => (name === 'auto' ? null : name === 'on');
