import { join } from 'node:path';
import { placesBelow, runBrowserHost } from '../../../app/server/main.ts';

//  The browser host with a model that calls tools by a script.

const root = join(import.meta.dirname, '../../..');
const places = { ...placesBelow(root, '.ts'), addon: join(root, 'test/support/processes/calling-addon.cjs') };
const ended = await runBrowserHost(places, { version: '0', commit: '' }, process.argv.slice(2));
if (typeof ended === 'number') process.exitCode = ended;
