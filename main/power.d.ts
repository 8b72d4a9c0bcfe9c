/** The machine does not fall asleep while an answer is written; the display may. */
export declare function keepAwake(): (busy: boolean) => void;
