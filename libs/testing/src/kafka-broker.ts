import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryRoot } from '@tessera/config';
import { freePort } from './free-port.js';
import { ended } from './server-process.js';
import { temporaryFolder } from './temporary-folder.js';

export const JARS = join(repositoryRoot, '.cache', 'kafka-broker');
const CLUSTER_ID = 'dGVzc2VyYS10ZXN0LWJyb2s';
const HOST = '127.0.0.1';

export interface KafkaBroker {
  readonly address: string;
  /** Folder of its data. */
  readonly folder: string;
  signal(signal: NodeJS.Signals): void;
  /** Ends it as a crash does; `start` brings it back on the same address, with what it had. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and takes its folder away. */
  stop(): Promise<void>;
}

/** A broker that speaks TLS and knows one user, by PLAIN and both kinds of SCRAM. */
export interface SecuredBroker {
  /** PEM texts. */
  readonly key: string;
  readonly certificate: string;
  readonly user: string;
  readonly password: string;
  /** All that the user may; left out: everything. */
  readonly rights?: readonly KafkaRight[];
}

export interface KafkaRight {
  readonly resource: 'topic' | 'group';
  /** Prefix that the right is for. */
  readonly prefix: string;
  readonly operations: readonly ('Read' | 'Write' | 'Create' | 'Delete')[];
}

const JAVA_ABSENT = 'java is not installed: apt-get install openjdk-17-jre-headless';

/** A real broker in KRaft mode on free ports. */
export async function startKafkaBroker(secured?: SecuredBroker): Promise<KafkaBroker> {
  if (!existsSync(JARS)) {
    throw new Error("the broker's jars are not there: npm run bootstrap -- --system");
  }
  const [port, controllerPort] = [await freePort(), await freePort()];
  const folder = temporaryFolder({});
  const properties = join(folder.path, 'server.properties');
  const all = serverProperties(port, controllerPort, join(folder.path, 'log'));
  const own = secured && (await securedProperties(port, controllerPort, folder.path, secured));
  writeFileSync(properties, [...all, ...(own?.lines ?? [])].join('\n'));
  const format = ['format', '-t', CLUSTER_ID, '-c', properties];
  const words = [...javaWords('kafka.tools.StorageTool'), ...format];
  const formatted = spawnSync('java', [...words, ...(secured ? scramWords(secured) : [])]);
  if (formatted.error) throw new Error(JAVA_ABSENT);
  if (formatted.status !== 0) {
    // The last line that names no place in the code tells the reason.
    const said = String(formatted.stderr)
      .split('\n')
      .filter((line) => /^\S/.test(line));
    throw new Error(`the broker's folder was not made: ${said.at(-1)}`);
  }
  let child = await spawnBroker(properties);
  if (secured?.rights !== undefined) grant(secured, own?.address ?? '');
  const kill = () => ended(child, 'SIGKILL');
  return {
    address: `127.0.0.1:${port}`,
    folder: folder.path,
    signal: (signal) => void child.kill(signal),
    kill,
    start: async () => {
      child = await spawnBroker(properties);
    },
    stop: async () => {
      await kill();
      folder.remove();
    },
  };
}

function javaWords(main: string): string[] {
  const memory = ['-Xmx256m', '-Xms64m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
  return [...memory, '-cp', join(JARS, '*'), main];
}

function scramWords({ user, password }: SecuredBroker): string[] {
  return ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${user},password=${password}]`,
  ]);
}

/** The last of two lines of one property counts. */
async function securedProperties(
  port: number,
  controllerPort: number,
  folder: string,
  { key, certificate, user, password, rights }: SecuredBroker,
): Promise<{ readonly address: string; readonly lines: readonly string[] }> {
  const ownPort = await freePort();
  const store = join(folder, 'keystore.pem');
  writeFileSync(store, `${key}\n${certificate}\n`);
  const open = `CLIENTS://${HOST}:${port},OWN://${HOST}:${ownPort}`;
  const listener = 'listener.name.clients';
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
  const lines = [
    `listeners=${open},CONTROLLER://${HOST}:${controllerPort}`,
    `advertised.listeners=${open}`,
    'inter.broker.listener.name=OWN',
    'listener.security.protocol.map=CONTROLLER:PLAINTEXT,OWN:PLAINTEXT,CLIENTS:SASL_SSL',
    'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    `${listener}.plain.sasl.jaas.config=${plain} user_${user}="${password}";`,
    `${listener}.scram-sha-256.sasl.jaas.config=${scram}`,
    `${listener}.scram-sha-512.sasl.jaas.config=${scram}`,
    `${listener}.ssl.keystore.type=PEM`,
    `${listener}.ssl.keystore.location=${store}`,
    ...(rights === undefined ? [] : AUTHORISING),
  ];
  return { address: `${HOST}:${ownPort}`, lines };
}

/** Callers of the broker's own listener have no name, and may do everything. */
const AUTHORISING = [
  'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users=User:ANONYMOUS',
];

/** Grants rights as an administrator does, with the broker's own program. */
function grant({ user, rights = [] }: SecuredBroker, address: string): void {
  for (const { resource, prefix, operations } of rights) {
    const granted = spawnSync('java', [
      ...javaWords('kafka.admin.AclCommand'),
      ...['--bootstrap-server', address, '--add', '--allow-principal', `User:${user}`],
      ...[`--${resource}`, prefix, '--resource-pattern-type', 'prefixed'],
      ...operations.flatMap((operation) => ['--operation', operation]),
    ]);
    if (granted.status !== 0) throw new Error(`no rights were granted: ${granted.stderr}`);
  }
}

function serverProperties(port: number, controllerPort: number, folder: string): string[] {
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names=CONTROLLER',
    'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    `log.dirs=${folder}`,
    'auto.create.topics.enable=false',
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=1',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    // A lone consumer joins at once instead of waiting for others.
    'group.initial.rebalance.delay.ms=0',
    'group.min.session.timeout.ms=1000',
    // A killed one may come back only once the controller misses it: 9 s where nothing is said.
    'broker.heartbeat.interval.ms=500',
    'broker.session.timeout.ms=3000',
    // Acknowledged records outlive a killed broker: no page cache of its own is trusted.
    'log.flush.interval.messages=1',
  ];
}

function spawnBroker(properties: string): Promise<ChildProcess> {
  const child = spawn('java', [...javaWords('kafka.Kafka'), properties], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    child.on('error', () => {
      reject(new Error(JAVA_ABSENT));
    });
    child.on('exit', (code) => {
      reject(new Error(`the broker ended with ${code}: ${said.slice(-10).join('\n')}`));
    });
    createInterface(child.stderr as NodeJS.ReadableStream).on('line', (line) => {
      said.push(line);
      if (said.length > 200) said.shift();
      if (line.includes('Kafka Server started')) resolve(child);
    });
  });
}
