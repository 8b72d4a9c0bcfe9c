import { addon } from '../../support/addon.ts';
import { severalAnswers } from '../../support/several-answers.ts';

severalAnswers(addon, (folder) => addon.load(folder, { device: 'cpu', threads: 2 }));
