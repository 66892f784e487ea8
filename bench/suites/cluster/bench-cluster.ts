import { join } from 'node:path';
import { TesseraClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { freePorts, temporaryFolder } from '@tessera/testing';
import { etcdPortOf, localPlan } from '../../../tools/cluster/local-plan.js';
import {
  endAll,
  launch,
  launchEtcd,
  type Running,
  untilReady,
} from '../../../tools/cluster/local-processes.js';

const HOST = '127.0.0.1';

/** Of all processes, from the first one's on. */
const STEPS = Array.from({ length: 111 }, (_, step) => step);

/** Processes of `npm run cluster`, with what they take of the machine parted between the nodes. */
export class BenchCluster {
  readonly client: TesseraClient;
  readonly nodeClients: readonly TesseraClient[];

  private constructor(
    readonly httpUrl: string,
    readonly grpcAddress: string,
    private readonly running: readonly Running[],
    private readonly folder: ReturnType<typeof temporaryFolder>,
  ) {
    this.client = new TesseraClient(grpcAddress);
    this.nodeClients = running
      .filter(({ process }) => process.name.startsWith('node-'))
      .map(({ process }) => new TesseraClient(`${HOST}:${process.grpcPort}`));
  }

  /** `environment`: of one process that has all; nodes share it. `more`: of each node. */
  static async start(
    nodes: number,
    environment: Readonly<Record<string, string>>,
    kafka = '',
    more: Readonly<Record<string, string>> = {},
  ): Promise<BenchCluster> {
    const folder = temporaryFolder({});
    const [httpPort, grpcPort] = [await freePorts(12_000, STEPS), await freePorts(22_000, STEPS)];
    const own = { nodes, httpPort, grpcPort, folder: join(folder.path, 'cluster') };
    const options = Object.assign(own, { etcd: '', kafka, redis: '', isShared: false });
    const plan = localPlan(options, loadConfig({ environment }).config);
    const running: Running[] = [];
    try {
      if (kafka === '') {
        running.push(await launchEtcd(join(own.folder, 'log'), etcdPortOf(options)));
      }
      const served = () => running.filter(({ process }) => process.name !== 'etcd');
      for (const one of plan) {
        if (one.name === 'gateway') await Promise.all(served().map(untilReady));
        const isNode = one.name.startsWith('node-');
        const variables = Object.assign({}, one.variables, isNode ? more : {});
        running.push(launch(Object.assign({}, one, { variables }), false));
      }
      await Promise.all(served().map(untilReady));
    } catch (error) {
      await endAll(running);
      throw error;
    }
    const url = `http://${HOST}:${httpPort}`;
    return new BenchCluster(url, `${HOST}:${grpcPort}`, running, folder);
  }

  async ownerOf(userId: string): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ userId });
    const url = `${this.httpUrl}/v1/cluster/route`;
    const reply = await fetch(url, { method: 'POST', headers, body });
    return ((await reply.json()) as { owner: string }).owner;
  }

  /** HOST:PORT of the nodes' HTTP edges. */
  get nodeAddresses(): readonly string[] {
    return this.running
      .filter(({ process }) => process.name.startsWith('node-'))
      .map(({ process }) => `${HOST}:${process.httpPort}`);
  }

  /** Process IDs of the gateway and the nodes, which a call goes through. */
  get pids(): readonly number[] {
    return this.running
      .filter(({ process: { name } }) => name === 'gateway' || name.startsWith('node-'))
      .map(({ child }) => child.pid as number);
  }

  kill(name: string): void {
    this.running.find(({ process }) => process.name === name)?.child.kill('SIGKILL');
  }

  async end(): Promise<void> {
    this.client.close();
    for (const client of this.nodeClients) client.close();
    await endAll(this.running);
    this.folder.remove();
  }
}
