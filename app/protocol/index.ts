export * from './calls.ts';
export * from './chat.ts';
export * from './engine.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './ids.ts';
export * from './settings.ts';
export * from './turn.ts';
