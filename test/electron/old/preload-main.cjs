// Preloaded into the old Electron: the modules of today's Node and Electron where the lowered shell asks for them.
const fs = require('fs');
const Module = require('module');
const { performance } = require('perf_hooks');
require('core-js-bundle');

global.performance = performance;

const fsPromises = { ...fs.promises };
fsPromises.rm = (path, { force }) =>
  fs.promises.lstat(path).then(
    (stat) => (stat.isDirectory() ? fs.promises.rmdir(path, { recursive: true }) : fs.promises.unlink(path)),
    (error) => {
      if (!force || error.code !== 'ENOENT') throw error;
    },
  );
fs.rmSync = (path, { force }) => {
  if (force && !fs.existsSync(path)) return;
  if (fs.lstatSync(path).isDirectory()) fs.rmdirSync(path, { recursive: true });
  else fs.unlinkSync(path);
};

/** parseArgs (18) for options that have values. */
const parseArgs = ({ args = process.argv.slice(2), options }) => {
  const values = {};
  const positionals = [];
  for (let at = 0; at < args.length; ++at) {
    const [option, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(args[at]) || [];
    if (option === undefined) positionals.push(args[at]);
    else if (options[name]) values[name] = value === undefined ? args[++at] : value;
  }
  return { values, positionals };
};

const since = {
  'fs/promises': () => fsPromises,
  util: () => ({ ...require('util'), parseArgs }),
  electron: () => require('./electron.cjs'),
};
const load = Module._load;
Module._load = function (request, parent, ...rest) {
  const name = request.replace(/^node:/, '');
  const byShell = parent && parent.filename && parent.filename.endsWith('index.cjs');
  return byShell && since[name] ? since[name]() : load.call(this, name, parent, ...rest);
};

// Electron 9 sometimes crashes while it takes itself down, after everything of the app is over: shell.ts has to know that it was.
require('electron').app.on('quit', (_, code) => fs.writeSync(2, `\n[quit ${code}]\n`));
