export function withCompileCache(root: string, env?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
