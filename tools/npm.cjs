// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know node:
'use strict';
// Runs npm where its registry may not be reached: by itself it tries for minutes and says nothing.
// Runs on any Node from 12 on, with its modules alone.
const { spawn } = require('child_process');

const PING_TIMEOUT_MS = 20000;
/** Codes of a host that is not there, or is another than npm was told. */
const CODES = ['ECONN\\w+', 'ENOTFOUND', 'EAI_AGAIN', 'E\\w*TIMEDOUT', 'E(?:HOST|NET)UNREACH'];
const NO_ANSWER = new RegExp(`code (${CODES.join('|')}|ERR_SOCKET\\w*|FETCH_ERROR|\\w*CERT\\w*)`);
/** npm takes each, the first that is set. */
const PROXIES = {
  'https:': ['HTTPS_PROXY', 'https_proxy', 'npm_config_https_proxy', 'HTTP_PROXY', 'http_proxy'],
  'http:': ['HTTP_PROXY', 'http_proxy', 'npm_config_proxy'],
};

/** Processes that run now, each the head of a process group of its own. */
const atWork = new Set();

let isStopped = false;

/** From now on nothing is started: processes at work are all there are to end. */
function startNothing() {
  isStopped = true;
}

/** Rejects with the command's name where it fails; `options` as of spawn(). */
function succeed(command, words, options) {
  return new Promise((resolve, reject) => {
    if (isStopped) {
      reject(new Error(`'${command}' was not started, since a signal ends this process`));
      return;
    }
    const child = spawn(command, words, Object.assign({ detached: true }, options));
    atWork.add(child);
    child.on('error', (error) => {
      atWork.delete(child);
      reject(new Error(`'${command}' could not be started: ${error.message}`));
    });
    child.on('close', (status, signal) => {
      atWork.delete(child);
      if (status === 0) resolve();
      else reject(new Error(`'${command} ${words.join(' ')}' ended with ${signal || status}`));
    });
  });
}

/** Output of npm, however it ends; '' where it cannot be started, which the next step tells. */
function printed(words, env) {
  return new Promise((resolve) => {
    let text = '';
    const child = spawn('npm', words, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    atWork.add(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part) => {
        text += part;
      });
    }
    const end = () => {
      atWork.delete(child);
      resolve(text.trim());
    };
    child.on('error', end);
    child.on('close', end);
  });
}

/** A proxy without its user and password. */
const shown = (url) => url.replace(/\/\/[^/]*@/, '//');

/** Why the registry gives no answer, and the remedy; '' where it gives one, were it a no. */
async function whyUnreachable(env) {
  const limits = ['--fetch-retries=0', `--fetch-timeout=${PING_TIMEOUT_MS}`];
  const found = await printed(['ping'].concat(limits), env);
  const code = NO_ANSWER.exec(found);
  if (code === null) return '';
  const registry = (await printed(['config', 'get', 'registry'], env)) || 'its registry';
  const protocol = registry.indexOf('http:') === 0 ? 'http:' : 'https:';
  const proxy = PROXIES[protocol].find((name) => env[name]);
  const mirror = 'connect this machine, or name a mirror by npm_config_registry=URL';
  const remedy = proxy ? `set ${proxy} to a proxy that answers, or unset it` : mirror;
  const through = proxy ? ` through ${proxy}=${shown(env[proxy])}` : '';
  return `npm cannot reach ${registry}${through} (${code[1]}): ${remedy}, then start again`;
}

/** One answer for all that run npm in this process. */
let asked;

/**
 * Runs npm; where its registry does not answer, with what its cache has. Rejects where that is not
 * enough, with the proxy or host that does not answer and the remedy, or as `start` does.
 * @param start runs a command
 */
async function runNpm(words, options, start) {
  const env = options.env || process.env;
  asked = asked || whyUnreachable(env);
  const why = await asked;
  if (why === '') return (start || succeed)('npm', words, options);
  const quiet = Object.assign({}, options, { stdio: 'ignore' });
  return succeed('npm', words.concat('--offline'), quiet).catch(() => {
    throw new Error(why);
  });
}

module.exports = { atWork, runNpm, startNothing, succeed, whyUnreachable };
