// utilityProcess (Electron 22) as a process of today's Node; the ports that are handed over are relayed on its channel.
const { spawn } = require('child_process');
const { EventEmitter } = require('events');
const { join } = require('path');
const { app } = require('electron');
const { pack, unpack } = require('./codec.cjs');

const running = new Set();

class UtilityProcess extends EventEmitter {
  constructor(file, args, { stdio, serviceName, execArgv = [] }) {
    super();
    this.ports = new Map();
    this.last = 0;
    this.serviceName = serviceName;
    // Electron's "ignore" for all three, or a list.
    const streams = Array.isArray(stdio) ? stdio : [stdio, stdio, stdio];
    // What Electron hands on to V8, Node takes as its own.
    const options = execArgv.flatMap((each) => each.replace('--js-flags=', '').split(' '));
    const all = [...options, '--require', join(__dirname, 'child.cjs'), file, ...args];
    this.child = spawn(process.env.LONGHAND_TEST_NODE, all, { stdio: [...streams, 'ipc'] });
    this.pid = this.child.pid;
    this.stderr = this.child.stderr;
    running.add(this);
    this.child.on('message', (message) => this.received(message));
    this.child.once('exit', (code) => this.ended(code === null ? 9 : code));
    setImmediate(() => this.emit('spawn'));
  }
  received(message) {
    if ('close' in message) {
      const port = this.ports.get(message.close);
      this.ports.delete(message.close);
      if (port) port.close();
    } else if ('port' in message) {
      const port = this.ports.get(message.port);
      if (port) port.postMessage(unpack(message.data));
    } else this.emit('message', unpack(message.data));
  }
  ended(code) {
    running.delete(this);
    this.pid = undefined;
    for (const port of this.ports.values()) port.close();
    this.emit('exit', code);
  }
  say(message) {
    if (this.child.connected) this.child.send(message, () => {});
  }
  postMessage(data, ports = []) {
    this.say({ data: pack(data), ports: ports.map((port) => this.relay(port)) });
  }
  relay(port) {
    const id = ++this.last;
    this.ports.set(id, port);
    port.on('message', (event) => this.say({ port: id, data: pack(event.data) }));
    port.on('close', () => {
      this.ports.delete(id);
      this.say({ close: id });
    });
    port.start();
    return id;
  }
  kill() {
    return this.child.kill('SIGTERM');
  }
}

const metrics = app.getAppMetrics.bind(app);
app.getAppMetrics = () => [
  ...metrics(),
  ...[...running].map(({ pid, serviceName }) => ({ pid, type: 'Utility', name: serviceName })),
];

module.exports = { fork: (file, args = [], options = {}) => new UtilityProcess(file, args, options) };
