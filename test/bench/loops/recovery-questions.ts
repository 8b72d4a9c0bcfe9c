//  The questions that `recovery.ts` asks small models: short ones whose answer can be judged in a line, and longer tasks that make
//  them loop.

/** Asked with the thinking opened for the model, which has to answer after "Answer now". */
export const SHORT: readonly string[] = [
  'What is the capital of Italy?',
  'Name three primary colours.',
  'How many days has a leap year?',
  'What do bees make?',
  'Is a whale a fish?',
  'What is 7 times 8?',
  'Which is heavier, a kilo of iron or a kilo of feathers?',
  'In which direction does the sun rise?',
  'What does a thermometer measure?',
  'Write one sentence about a cat on a roof.',
  'Which month comes after August?',
  'What is the opposite of "early"?',
  'How do I boil an egg? Two sentences.',
  'Why is the sky blue? One sentence.',
  'What is the plural of "mouse"?',
  'Name a river in Egypt.',
  'What is a synonym of "happy"?',
  'Who wrote Romeo and Juliet?',
  'How many legs has a spider?',
  'What is H2O?',
  'Give me a name for a small bakery.',
  'What is the largest planet of the solar system?',
  'Write a Python function that adds two numbers.',
  'What should I wear when it rains?',
  'Which animal says "moo"?',
  'What is half of 90?',
  'How do I say "thank you" in French?',
  'What is the square root of 81?',
  'What is a library for?',
  'Which gas do plants take in?',
];

export interface Task {
  readonly ask: string;
  /** The answer has to be JSON. */
  readonly json?: boolean;
}

/** Asked without thinking. */
export const LONG: readonly Task[] = [
  { ask: 'Tell a bedtime story about a fox who looks for the moon.' },
  { ask: 'Write a poem about the sea at night.' },
  { ask: 'List 30 synonyms of the word "happy".' },
  { ask: 'Write a list of 40 animals.' },
  { ask: 'Explain in detail why people should sleep well.' },
  { ask: 'Write a conversation between two robots about the colour of the sky.' },
  { ask: 'Give a JSON array with 12 fictional books: title, author, year. Write nothing but the JSON.', json: true },
  { ask: 'Give a JSON array of 15 cities, each with name, country and population. Write only JSON.', json: true },
  {
    ask: 'Write a JSON object with the settings of a music player, as complete as you can. Write only JSON.',
    json: true,
  },
  { ask: 'Write a JSON array with 20 fruits, each with name and colour. Write only JSON.', json: true },
  { ask: 'List 25 reasons to learn the piano, numbered.' },
  { ask: 'List all prime numbers below 200, separated by commas.' },
  { ask: 'Write a villanelle about an old clock.' },
  { ask: 'Write an FAQ about a public swimming pool.' },
  { ask: 'Describe a walk through a forest in autumn, in many sentences.' },
  { ask: 'Write 30 SQL INSERT statements with sample data for employees(id, name, city, salary).' },
  { ask: 'Write the steps of making bread, in great detail.' },
  { ask: 'Write a story about an old sailor and a whale.' },
  { ask: 'Write a JSON array with 15 employees: name, role, email. Write only JSON.', json: true },
  { ask: 'Write a JSON object that maps 20 English words to their German translations. Write only JSON.', json: true },
  { ask: 'List 50 films with their years.' },
  { ask: 'Write a long letter to a friend about your holidays.' },
  { ask: 'Write a song with a chorus about rain.' },
  { ask: 'Give 30 ideas for names of a café.' },
  { ask: 'Write a Java class Person with 10 private fields, and a getter and a setter for every field.' },
  { ask: 'Write a CSV file with 30 rows: id, name, city, amount.' },
];
