// The processor's name and generation: names such as "AMD EPYC" cover chips of very different speed.
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Generations by vendor and family; `models` are ranges of Linux's model numbers, or the whole family if absent. */
const GENERATIONS = [
  { vendor: 'AuthenticAMD', family: 26, name: 'Zen 5' },
  {
    vendor: 'AuthenticAMD',
    family: 25,
    models: [
      [16, 31],
      [96, 127],
      [160, 175],
    ],
    name: 'Zen 4',
  },
  { vendor: 'AuthenticAMD', family: 25, name: 'Zen 3' },
  { vendor: 'GenuineIntel', family: 6, models: [[106, 108]], name: 'Ice Lake' },
  { vendor: 'GenuineIntel', family: 6, models: [[143, 143]], name: 'Sapphire Rapids' },
  { vendor: 'GenuineIntel', family: 6, models: [[207, 207]], name: 'Emerald Rapids' },
  { vendor: 'GenuineIntel', family: 6, models: [[173, 174]], name: 'Granite Rapids' },
];

/** `info` is the text of /proc/cpuinfo; unknown chips are described by their numbers. */
export function generationOf(info) {
  const field = (name) => new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(info)?.[1];
  const [vendor, family, model] = [field('vendor_id'), Number(field('cpu family')), Number(field('model'))];
  if (!vendor || Number.isNaN(family)) return '';
  const fits = ({ models }) => !models || models.some(([least, most]) => model >= least && model <= most);
  const known = GENERATIONS.find((one) => one.vendor === vendor && one.family === family && fits(one));
  return known ? known.name : `family ${family}, model ${model}`;
}

export function processorName() {
  const model = cpus()[0]?.model.trim() || 'unknown processor';
  const generation = existsSync('/proc/cpuinfo') ? generationOf(readFileSync('/proc/cpuinfo', 'utf8')) : '';
  return generation ? `${model}, ${generation}` : model;
}
