/** Does one part of an evaluation, or gives what it found before. `name`: unique in the evaluation. */
export type Step = <Found>(name: string, work: () => Promise<Found>) => Promise<Found>;

/** Does every part at once and remembers none. */
export const straight: Step = (_, work) => work();
