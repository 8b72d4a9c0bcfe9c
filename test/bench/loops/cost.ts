// What the loop detector costs: node test/bench/loops/cost.ts
// Processor time a token over sound text of the corpus, as JSON in one line.
import { sound } from '../../app/text/loop/corpus/index.ts';
import { cost } from '../../app/text/loop/measure.ts';

process.stdout.write(`${JSON.stringify({ microseconds: cost(sound().map(({ text }) => text)) })}\n`);
