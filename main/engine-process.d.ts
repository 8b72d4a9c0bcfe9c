import { type MessagePortMain } from 'electron';
import type { Paths } from './paths.ts';
export type EngineProcesses = {
  /** Starts one and gives the other end of its pipe. */
  start(number: number): MessagePortMain;
  kill(number: number): void;
  /** When the core ends, its engine ends. */
  killAll(): void;
};
/** Owns the engine process for the core: a fault of a GPU ends this process and no other. */
export declare function createEngineProcesses(paths: Paths, onEnd: (number: number) => void): EngineProcesses;
