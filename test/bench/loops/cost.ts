// What the loop detector costs: node test/bench/loops/cost.ts
// Processor time per token on sound text of the corpus, as one line of JSON.
import { sound } from '../../app/text/loop/corpus/index.ts';
import { cost } from '../../app/text/loop/measure.ts';

process.stdout.write(`${JSON.stringify({ microseconds: cost(sound().map(({ text }) => text)) })}\n`);
