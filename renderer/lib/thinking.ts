/** Whether a chat thinks before it answers; `auto` is null in the protocol: the model's default. */
export type Thinks = 'off' | 'auto' | 'on';
export const thinksOf = (thinking: boolean | null): Thinks => (thinking === null ? 'auto' : thinking ? 'on' : 'off');
export const thinkingOf = (name: Thinks): boolean | null => (name === 'auto' ? null : name === 'on');
