// Preloaded into Electron's main process by the tests: evaluates what they send through a socket, a line of JSON each.
const { createServer } = require('net');
const electron = require('electron');

const AsyncFunction = (async () => {}).constructor;
/** Kept between two questions of a test. */
const kept = {};
/** What a test wants done before the app starts. */
const first = process.env.LONGHAND_TEST_FIRST;
if (first) new Function('electron', 'kept', first)(electron, kept);

function answer(socket, line) {
  const { id, code } = JSON.parse(line);
  const reply = (said) => !socket.destroyed && socket.write(`${JSON.stringify({ id, ...said })}\n`);
  new AsyncFunction('electron', 'kept', code)(electron, kept).then(
    (value) => reply({ value }),
    (error) => reply({ error: String((error && error.stack) || error) }),
  );
}

// A second start of the app finds the first one's socket, and is none to talk to.
createServer((socket) => {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop();
    for (const line of lines) answer(socket, line);
  });
})
  .on('error', () => {})
  .listen(process.env.LONGHAND_TEST_SOCKET)
  .unref();
