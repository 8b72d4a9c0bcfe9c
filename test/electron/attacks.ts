//  What a hostile page would try. Each is evaluated in the page; `server` is an address that listens, `udp` a port that does.

/** Its name, and code that gives what came of it. Throwing is being refused. */
export type Attack = readonly [name: string, code: string];

const go = (address: string): string => `location.href = ${JSON.stringify(address)}`;
const link = (attributes: string): string =>
  `const a = document.createElement('a'); Object.assign(a, ${attributes}); document.body.append(a); a.click()`;
const form = (attributes: string): string =>
  `const f = document.createElement('form'); Object.assign(f, ${attributes}); document.body.append(f); f.submit()`;
const element = (tag: string, attributes: string): string =>
  `const e = document.createElement('${tag}'); const done = new Promise((loaded, failed) => {
     e.onload = e.onloadeddata = () => loaded('loaded'); e.onerror = () => failed(new Error('refused')); });
   Object.assign(e, ${attributes}); document.body.append(e);`;

/** Leaving the page. None may come to anything: the document that was there at first is there at the end. */
export const NAVIGATIONS = (server: string): Attack[] => [
  ...[
    `${server}/navigate`,
    `${server.replace('http', 'https')}/navigate`,
    `${server.replace('http', 'ws')}/navigate`,
    `view-source:${server}/`,
    'file:///etc/passwd',
    'data:text/html,<script>document.title="out"</script>',
    'longhand://other/',
    'longhand://app.example/',
    `longhand://app@${server.slice('http://'.length)}/`,
    'mailto:somebody@example.org',
    'steam://run/1',
    'tel:123',
    'chrome://gpu',
    'chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/index.html',
    'devtools://devtools/bundled/inspector.html',
    'filesystem:longhand://app/temporary/x.html',
    'javascript:window.ran = true',
  ].map((address): Attack => [`location = ${address}`, go(address)]),
  ['a blob', `location.href = URL.createObjectURL(new Blob(['<h1>out'], { type: 'text/html' }))`],
  ['location.assign', `location.assign('${server}/assign')`],
  ['location.replace', `location.replace('${server}/replace')`],
  ['history.pushState', `history.pushState(null, '', '${server}/push')`],
  ['a link', link(`{ href: '${server}/link' }`)],
  ['a link to a file', link(`{ href: 'file:///etc/passwd' }`)],
  ['a link that pings', link(`{ href: '#here', ping: '${server}/ping' }`)],
  ['a form that gets', form(`{ action: '${server}/get' }`)],
  ['a form that posts', form(`{ action: '${server}/post', method: 'post' }`)],
  [
    'a refresh',
    `const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url=${server}/refresh'; document.head.append(m)`,
  ],
  [
    'a base for all links',
    `const b = document.createElement('base'); b.href = '${server}/'; document.head.append(b); if (document.baseURI.startsWith('${server}')) location.href = 'relative'; b.remove()`,
  ],
  ['window.open into itself', `window.open('${server}/self', '_self')`],
];

/** Opening a window. There is one at the end. */
export const WINDOWS = (server: string): Attack[] => [
  ...[
    `${server}/open`,
    'about:blank',
    'longhand://app/',
    'file:///etc/passwd',
    'data:text/html,out',
    'javascript:1',
  ].map((address): Attack => [`window.open ${address}`, `window.open(${JSON.stringify(address)})`]),
  [
    'a window with rights',
    `window.open('longhand://app/', 'x', 'nodeIntegration=yes,contextIsolation=no,webPreferences=sandbox=no')`,
  ],
  ['a window without an opener', `window.open('${server}/noopener', '_blank', 'noopener')`],
  ['a blob in a window', `window.open(URL.createObjectURL(new Blob(['out'], { type: 'text/html' })))`],
  ['a link to a window', link(`{ href: '${server}/blank', target: '_blank' }`)],
  [
    'a link with the middle button',
    `const a = document.createElement('a'); a.href = '${server}/middle'; document.body.append(a); a.dispatchEvent(new MouseEvent('click', { button: 1, ctrlKey: true, bubbles: true }))`,
  ],
  ['a form to a window', form(`{ action: '${server}/form', target: '_blank' }`)],
  ['a webview', `${element('webview', `{ src: '${server}/webview' }`)}`],
];

/** Reaching out, or running what was not shipped. The result has to be a refusal, and the server hears nothing. */
export const REQUESTS = (server: string): Attack[] => [
  ['fetch', `return fetch('${server}/fetch')`],
  ['fetch without an answer', `return fetch('${server}/opaque', { mode: 'no-cors' })`],
  ['fetch of a file', `return fetch('file:///etc/passwd')`],
  ['a redirect of the page itself', `return fetch('longhand://other/')`],
  [
    'XMLHttpRequest',
    `await new Promise((loaded, failed) => { const x = new XMLHttpRequest(); x.onload = loaded; x.onerror = () => failed(new Error('refused')); x.open('GET', '${server}/xhr'); x.send(); })`,
  ],
  [
    'WebSocket',
    `await new Promise((opened, failed) => { const w = new WebSocket('${server.replace('http', 'ws')}/ws'); w.onopen = opened; w.onerror = () => failed(new Error('refused')); })`,
  ],
  [
    'EventSource',
    `await new Promise((opened, failed) => { const e = new EventSource('${server}/events'); e.onopen = opened; e.onerror = () => { e.close(); failed(new Error('refused')); }; })`,
  ],
  ['an image', `${element('img', `{ src: '${server}/img' }`)} await done`],
  ['a script', `${element('script', `{ src: '${server}/script' }`)} await done`],
  ['a style', `${element('link', `{ rel: 'stylesheet', href: '${server}/style' }`)} await done`],
  ['an icon', `${element('link', `{ rel: 'icon', href: '${server}/icon' }`)} throw new Error('nothing to wait for')`],
  [
    'a manifest',
    `${element('link', `{ rel: 'manifest', href: '${server}/manifest' }`)} throw new Error('nothing to wait for')`,
  ],
  ['a prefetch', `${element('link', `{ rel: 'prefetch', href: '${server}/prefetch' }`)} await done`],
  ['a preload', `${element('link', `{ rel: 'preload', as: 'image', href: '${server}/preload' }`)} await done`],
  [
    'a preconnect',
    `${element('link', `{ rel: 'preconnect', href: '${server}' }`)} throw new Error('nothing to wait for')`,
  ],
  ['a video', `${element('video', `{ src: '${server}/video' }`)} await done`],
  ['a sound', `const s = new Audio('${server}/sound'); await s.play()`],
  ['an object', `${element('object', `{ data: '${server}/object' }`)} await done`],
  ['a font', `await new FontFace('x', 'url(${server}/font)').load()`],
  [
    'a background',
    `document.body.style.backgroundImage = 'url(${server}/background)'; throw new Error('nothing to wait for')`,
  ],
  ['a module', `return import('${server}/module.js')`],
  [
    'a worker',
    `await new Promise((_, failed) => { new Worker('${server}/worker.js').onerror = () => failed(new Error('refused')); })`,
  ],
  ['a service worker', `return navigator.serviceWorker.register('${server}/sw.js')`],
  [
    'inline script',
    `${element('script', `{ textContent: 'window.ran = true' }`)} if (!window.ran) throw new Error('refused')`,
  ],
  [
    'an inline handler',
    `const d = document.createElement('div'); d.setAttribute('onclick', 'window.ran = true'); d.click(); if (!window.ran) throw new Error('refused')`,
  ],
  ['eval', `return eval('1 + 1')`],
  ['a function of text', `return new Function('return 1')()`],
  ['a server that tells addresses', relay(`stun:${server.slice('http://'.length)}`)],
  ['a relay on UDP', relay(`turn:${server.slice('http://'.length)}?transport=udp`)],
  ['a relay on TCP', relay(`turn:${server.slice('http://'.length)}?transport=tcp`)],
];

/** Requests that no policy of a page speaks of: the candidates of a call are looked for, and then nobody was asked. */
function relay(address: string): string {
  return `const call = new RTCPeerConnection({ iceServers: [{ urls: '${address}', username: 'a', credential: 'b' }] });
    call.createDataChannel('x');
    const all = new Promise((ended) => { call.onicegatheringstatechange = () => call.iceGatheringState === 'complete' && ended(); });
    await call.setLocalDescription(await call.createOffer());
    await all;
    call.close();
    throw new Error('nothing was said');`;
}

/** What lies beside the page: each answer is the page itself, a refusal, or an error. */
export const PATHS: string[] = [
  'longhand://app/../../../../../etc/passwd',
  'longhand://app/..%2f..%2f..%2f..%2f..%2f..%2fetc/passwd',
  'longhand://app/%2e%2e/%2e%2e/package.json',
  'longhand://app/%252e%252e/package.json',
  'longhand://app/..%5c..%5cpackage.json',
  'longhand://app//etc/passwd',
  'longhand://app/%00/etc/passwd',
  'longhand://app/index.html%00.js',
  'longhand://app/assets/../../preload/preload.cjs',
  'longhand://app/..%2fpreload%2fpreload.cjs',
  'longhand://app/..%2fmain%2fcore.js',
  'longhand://app/%E0%A4%A',
  'longhand://app/file:///etc/passwd',
  'longhand://app/.vite/manifest.json',
  'longhand://app/assets',
  'longhand://app/%2fetc%2fpasswd',
];

/** Rights of a page that this one does not have. One that this Chromium lacks is refused too. */
export const PERMISSIONS: Attack[] = [
  ['notifications', `if ((await Notification.requestPermission()) !== 'granted') throw new Error('refused')`],
  ['the place', `await new Promise((found, failed) => navigator.geolocation.getCurrentPosition(found, failed))`],
  ['the camera', `await navigator.mediaDevices.getUserMedia({ video: true })`],
  ['the microphone', `await navigator.mediaDevices.getUserMedia({ audio: true })`],
  ['the screen', `await navigator.mediaDevices.getDisplayMedia()`],
  ['the clipboard', `await navigator.clipboard.readText()`],
  ['MIDI', `await navigator.requestMIDIAccess({ sysex: true })`],
  ['USB', `await navigator.usb.requestDevice({ filters: [] })`],
  ['Bluetooth', `await navigator.bluetooth.requestDevice({ acceptAllDevices: true })`],
  ['a serial port', `await navigator.serial.requestPort()`],
  ['HID', `if ((await navigator.hid.requestDevice({ filters: [] })).length === 0) throw new Error('refused')`],
  ['the keyboard', `await navigator.keyboard.lock(); if (!document.fullscreenElement) throw new Error('refused')`],
  [
    'the whole screen',
    `document.body.requestFullscreen().catch(() => {}); await fetch('longhand://app/'); if (!document.fullscreenElement) throw new Error('refused')`,
  ],
  ['storage for ever', `if (!(await navigator.storage.persist())) throw new Error('refused')`],
  ['being idle', `if ((await IdleDetector.requestPermission()) !== 'granted') throw new Error('refused')`],
  ['files', `await showOpenFilePicker()`],
  ['Node', `require('fs')`],
  ['the process', `process.exit(1)`],
  [
    'Electron through the prototype',
    `const [api] = Object.values(window.longhand); api.constructor('return process')().exit(1)`,
  ],
];

/** Wrong use of what the preload script offers. */
export const CALLS: Attack[] = [
  ...[
    'file:///etc/passwd',
    'javascript:alert(1)',
    'smb://host/share',
    'ms-settings:',
    'steam://run/1',
    'data:text/html,x',
    'longhand://app/',
    'not an address',
    '',
    ` ${'x'.repeat(5000)}`,
    `https://${'x'.repeat(5000)}`,
  ].map(
    (address): Attack => [
      `open ${address.slice(0, 30)}`,
      `await window.longhand.openExternal(${JSON.stringify(address)})`,
    ],
  ),
  ...['null', 'undefined', '{}', '[]', '7', '{ toString: () => "https://example.org" }'].map(
    (value): Attack => [`open ${value}`, `await window.longhand.openExternal(${value})`],
  ),
  ['show nothing', `await window.longhand.reveal('')`],
  ['show a number', `await window.longhand.reveal(7)`],
  ['show what is too long', `await window.longhand.reveal('/'.repeat(5000))`],
  ['choose anything', `await window.longhand.choose('everything')`],
  ['choose through the prototype', `await window.longhand.choose('__proto__')`],
  ['a copy of no bytes', `await window.longhand.openCopy('a.pdf', 'text')`],
  ['a copy with no name', `await window.longhand.openCopy('', new Uint8Array(1))`],
  ['a copy with too long a name', `await window.longhand.openCopy('x'.repeat(300) + '.pdf', new Uint8Array(1))`],
  ...["'A'", "'Shift+A'", 'null', "'x'.repeat(5000)"].map(
    (keys): Attack => [
      `the keys ${keys} of every program`,
      `await window.longhand.keysAreFree(${keys}) || (() => { throw new Error('refused'); })()`,
    ],
  ),
  ['the selection of another window', `if ((await window.longhand.takeAsked()) === null) throw new Error('refused')`],
  ['another channel', `window.longhand.send.call(null, { channel: 'choose' }); throw new Error('nothing was heard')`],
  ...['a.sh', 'a.html', 'a.desktop', 'a.pdf.exe', '..', 'a', '.bashrc', 'a.svg', 'a.jar'].map(
    (name): Attack => [
      `a copy called ${name}`,
      `if (!(await window.longhand.openCopy(${JSON.stringify(name)}, new Uint8Array([1])))) throw new Error('refused')`,
    ],
  ),
];

/** Frames of the page that have the preload script too, which only a test lets happen. */
export const FRAMES: Attack[] = ['about:blank', 'longhand://app/', 'longhand://app/index.html'].map((address) => [
  `a frame at ${address}`,
  `const frame = document.createElement('iframe');
   await new Promise((settled) => { frame.onload = frame.onerror = settled; frame.src = '${address}'; document.body.append(frame); });
   await frame.contentWindow.longhand.openExternal('https://example.org/from-a-frame')`,
]);
