#!/usr/bin/env node
// The `longhand` program: the bundle if there is one, or else the source, with a suitable version of Node.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withCompileCache } from './compile-cache.mjs';
import { become } from './run.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const source = join(root, 'app', 'cli', 'main.ts');
const fromSource = existsSync(source);
const entry = fromSource ? source : join(root, 'dist', 'main', 'cli.js');
const [major, minor] = process.versions.node.split('.').map(Number);
const modern = major > 24 || (major === 24 && minor >= 2);
const own = join(root, 'node_modules', '.bin', 'node');
const node = modern || !existsSync(own) ? process.execPath : own;

const env = { ...process.env, LONGHAND_ROOT: root };
become(node, [entry, ...process.argv.slice(2)], { env: fromSource ? withCompileCache(root, env) : env });
