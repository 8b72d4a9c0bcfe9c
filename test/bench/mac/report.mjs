// The report of npm run mac, rewritten after every step, so that a machine that stops leaves what it had.

import { renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const LINES_SHOWN = 30; // of a message, in the page; the whole is in the JSON
const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^-|-$/g, '');

function write(path, text) {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

const cell = (value) =>
  String(value ?? '')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ');
const table = ([head, ...rows]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
function fenced(text) {
  const lines = text.trimEnd().split('\n');
  const more = lines.length - LINES_SHOWN;
  const shown = more > 0 ? [...lines.slice(0, LINES_SHOWN), `(${more} more lines in the JSON)`] : lines;
  return `\`\`\`\`\n${shown.join('\n')}\n\`\`\`\``;
}

function section(step) {
  const parts = [`## ${step.name}: ${step.state} (${step.seconds} s)`, '', step.title];
  if (step.error) parts.push('', fenced(step.error));
  if (step.summary) parts.push('', step.summary);
  if (step.table?.length > 1) parts.push('', table(step.table));
  for (const { name, message } of step.failures ?? []) parts.push('', `**${name}**`, '', fenced(message));
  for (const { name, message } of step.notes ?? []) parts.push('', `${name}`, '', fenced(message));
  return parts.join('\n');
}

/** `add` takes {name, title, state, seconds, error?, summary?, table?, failures?, notes?}; anything else goes into the JSON only.
 * Paths in the user's own folder are written as ~. */
export function openReport(folder, machine, options) {
  const base = join(folder, `report-${slug(String(machine.chip))}-${slug(String(machine.system))}`);
  const all = { version: 1, began: new Date().toISOString(), machine, ...options, steps: [] };
  const markdown = `${base}.md`;
  const flush = () => {
    const anonymous = (text) => text.replaceAll(homedir(), '~');
    const overview = table([
      ['step', 'result', 'seconds'],
      ...all.steps.map(({ name, state, seconds }) => [name, state, seconds]),
    ]);
    const facts = table([['', ''], ...Object.entries(machine).filter(([, value]) => value !== null)]);
    const page = [`# Longhand on ${machine.chip}, ${machine.system}`, facts, overview, ...all.steps.map(section)];
    write(`${base}.json`, anonymous(`${JSON.stringify(all, null, 2)}\n`));
    write(markdown, anonymous(`${page.join('\n\n')}\n`));
  };
  flush();
  return {
    markdown,
    add(step) {
      all.steps.push(step);
      flush();
    },
    failed: () => all.steps.some(({ state }) => state === 'failed'),
  };
}
