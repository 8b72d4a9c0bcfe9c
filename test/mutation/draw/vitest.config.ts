// The tests as they are, each file with a list of the mutants that it reaches.
import { mergeConfig } from 'vitest/config';
import config from '../../vitest.config.ts';

export default mergeConfig(config, { test: { setupFiles: ['mutation/draw/reached.ts'] } });
