import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { ended } from './server-process.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './until.js';

const HOST = '127.0.0.1';

export interface EtcdServer {
  readonly address: string;
  /** Folder of all that it keeps. */
  readonly folder: string;
  /** Ends it as a crash does; `start` brings it back with what it had. */
  kill(): Promise<void>;
  start(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Ends it and takes its folder away. */
  stop(): Promise<void>;
}

/**
 * A real etcd of one member on free ports.
 * @param tls PEM files of the certificate that it shows; left out: no TLS
 */
export async function startEtcdServer(tls?: {
  readonly certificatePath: string;
  readonly keyPath: string;
}): Promise<EtcdServer> {
  const [clients, peers] = [await freePort(), await freePort()];
  const address = `${HOST}:${clients}`;
  const folder = temporaryFolder({});
  const data = join(folder.path, 'data');
  const metrics = tls === undefined ? address : `${HOST}:${await freePort()}`;
  const url = `${tls === undefined ? 'http' : 'https'}://${address}`;
  const secured = tls && ['--cert-file', tls.certificatePath, '--key-file', tls.keyPath];
  const words = [
    ...['--data-dir', data, '--listen-client-urls', url, '--advertise-client-urls', url],
    ...(secured ? [...secured, '--listen-metrics-urls', `http://${metrics}`] : []),
    ...['--listen-peer-urls', `http://${HOST}:${peers}`],
    ...['--initial-advertise-peer-urls', `http://${HOST}:${peers}`],
    ...['--initial-cluster', `default=http://${HOST}:${peers}`, '--log-level', 'error'],
  ];
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn('etcd', words, { stdio: 'ignore' });
    const healthy = async () => {
      const reply = await fetch(`http://${metrics}/health`).catch(() => undefined);
      return reply?.ok === true;
    };
    await until(`${address}: a healthy etcd`, healthy);
  };
  const kill = async () => {
    if (child !== undefined) await ended(child, 'SIGKILL');
  };
  await start();
  return {
    address,
    folder: data,
    kill,
    start,
    signal: (signal) => {
      child?.kill(signal);
    },
    stop: async () => {
      await kill();
      folder.remove();
    },
  };
}
