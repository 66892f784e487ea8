// Loaded into a service before its own code: writes, when it is asked by SIGUSR2, the longest CPU
// time in milliseconds of Node's own thread between two turns of its event loop since it was asked
// before.
const { readFileSync, writeFileSync } = require('node:fs');

const NANOSECONDS_PER_MILLISECOND = 1e6;
const path = `/proc/self/task/${process.pid}/schedstat`;
const cpuMs = () => Number(readFileSync(path, 'utf8').split(' ')[0]) / NANOSECONDS_PER_MILLISECOND;

let last = cpuMs();
let longest = 0;
setInterval(() => {
  const now = cpuMs();
  longest = Math.max(longest, now - last);
  last = now;
}, 1).unref();
process.on('SIGUSR2', () => {
  writeFileSync(process.env.THREAD_CPU_FILE, `${longest}\n`);
  longest = 0;
  last = cpuMs();
});
