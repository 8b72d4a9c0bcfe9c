/** Options of V8 in the engine process. The young generation holds what is new, most of which is garbage soon. Left alone it grows to two
 *  halves of up to 64 MB while many answers are written, V8 lets the old one grow by as much before it collects, and both shrink again at
 *  some later time: the process, whose own objects are 25 MB, swings by 150. With halves of 8 MB it collects as fast. */
export const ENGINE_V8_OPTIONS: readonly string[] = ['--max-semi-space-size=8'];
