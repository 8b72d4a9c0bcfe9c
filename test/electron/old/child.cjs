// Preloaded into a process of Node that stands in for a utility process: process.parentPort over Node's own channel.
const { EventEmitter } = require('node:events');
const { pack, unpack } = require('./codec.cjs');

const ports = new Map();

class Port extends EventEmitter {
  #early = [];
  #started = false;
  constructor(id) {
    super();
    this.id = id;
    ports.set(id, this);
  }
  postMessage(message) {
    say({ port: this.id, data: pack(message) });
  }
  start() {
    this.#started = true;
    for (const message of this.#early.splice(0)) this.emit('message', message);
  }
  close() {
    if (ports.delete(this.id)) say({ close: this.id });
  }
  received(data) {
    const message = { data, ports: [] };
    if (this.#started) this.emit('message', message);
    else this.#early.push(message);
  }
}

const say = (message) => process.connected && process.send(message);
const parentPort = new EventEmitter();
parentPort.postMessage = (message) => say({ data: pack(message) });
// Kept until somebody listens, as Electron keeps them.
const early = [];
parentPort.once('newListener', () =>
  setImmediate(() => {
    for (const message of early.splice(0)) parentPort.emit('message', message);
  }),
);

process.on('message', (message) => {
  if ('close' in message) {
    const port = ports.get(message.close);
    ports.delete(message.close);
    port?.emit('close');
  } else if ('port' in message) ports.get(message.port)?.received(unpack(message.data));
  else {
    const given = { data: unpack(message.data), ports: message.ports.map((id) => new Port(id)) };
    if (parentPort.listenerCount('message') > 0 && early.length === 0) parentPort.emit('message', given);
    else early.push(given);
  }
});
// Chromium ends a utility process when the browser process is gone.
process.on('disconnect', () => process.exit(0));
process.parentPort = parentPort;
