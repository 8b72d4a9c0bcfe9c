import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** Parses the options of a script. --help prints the comment at the top of the script; a bad option ends it with one sentence and
 *  exit code 2.
 *  @template {import('node:util').ParseArgsConfig} Config
 *  @param {string} script
 *  @param {Config} config
 *  @returns {Pick<ReturnType<typeof parseArgs<Config>>, 'values' | 'positionals'>} */
export function readOptions(script, config) {
  const name = script.split(/[\\/]/).at(-1);
  try {
    const options = { ...config.options, help: { type: 'boolean', short: 'h', default: false } };
    const { values, positionals } = parseArgs({ ...config, options });
    if (!values.help) return { values, positionals };
    process.stdout.write(`${headOf(script)}\n`);
    process.exit(0);
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS')) throw error;
    process.stderr.write(`[${name}] ${error.message.split('. ')[0]}; --help names what is allowed\n`);
    process.exit(2);
  }
}

function headOf(script) {
  const lines = readFileSync(script, 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ''))
    .join('\n');
}
