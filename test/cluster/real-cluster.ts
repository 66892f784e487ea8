/** Processes of a cluster on this machine, each of which can be killed, held up or given a disk. */

import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '@tessera/config';
import {
  type EtcdServer,
  freePorts,
  type RedisServer,
  startEtcdServer,
  startRedisServer,
  temporaryFolder,
  until,
} from '@tessera/testing';
import { type LocalProcess, localPlan } from '../../tools/cluster/local-plan.js';
import { launch, type Running, untilReady } from '../../tools/cluster/local-processes.js';
import { CutProxy } from './cut-proxy.js';

export interface RealClusterOptions {
  readonly nodes: number;
  readonly gateways: number;
  /** Variables of all nodes. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly gatewayVariables?: Readonly<Record<string, string>>;
  /** Folder of the release that runs; left out: this checkout. */
  readonly root?: string;
}

/** Answer of /health. */
export interface NodeHealth {
  readonly ready: boolean;
  readonly clusterLog?: {
    readonly identity: string;
    readonly offset: number;
    readonly digest: string;
    readonly fault: string;
  };
  readonly conditions: readonly {
    readonly name: string;
    readonly state: string;
    readonly reason?: string;
  }[];
}

/** Output of a node's process, beside its stores. */
const LOG_FILE = 'log';
const ASK_MS = 2000;
/** Characters of a process's output that a failed start shows. */
const SAID_MAX = 2000;
/** Readiness and positions after everything runs again. */
const TOGETHER_MS = 30_000;
/** Some shares of a machine that are enough for the demo. */
const SMALL = {
  TESSERA_KV_DEVICE_BYTES: String(2 ** 24),
  TESSERA_KV_HOST_BYTES: String(2 ** 24),
  TESSERA_KV_DISK_BYTES: String(2 ** 26),
  TESSERA_RECALL_DEFAULT_DEADLINE_MS: '30000',
  TESSERA_INSPECTION_PERCENT: '100',
};

/** Nodes `node-1`, ..., gateways `gateway-1`, ...; behaviours in a Redis that nobody disturbs. */
export class RealCluster {
  private readonly running = new Map<string, Running>();
  private readonly held = new Set<string>();
  /** Children of nodes that hang: what ends their nodes does not end them. */
  private readonly hung: number[] = [];
  private copies = 0;

  private constructor(
    private readonly plan: Map<string, LocalProcess>,
    readonly log: EtcdServer,
    readonly behaviours: RedisServer,
    /** Links of nodes to the server of the log. */
    private readonly links: ReadonlyMap<string, CutProxy>,
    private readonly temporary: ReturnType<typeof temporaryFolder>,
  ) {}

  /** Nothing runs yet but the servers. */
  static async prepare(options: RealClusterOptions) {
    const { nodes, gateways, variables = {}, gatewayVariables = {}, root = '' } = options;
    const temporary = temporaryFolder({});
    const behaviours = await startRedisServer();
    const server = await startEtcdServer();
    const steps = Array.from({ length: nodes + gateways + 1 }, (_, step) => step);
    const httpPort = await freePorts(12_000, steps);
    const grpcPort = await freePorts(22_000, [...steps, ...steps.map((step) => step + 9)]);
    const local = {
      nodes,
      httpPort,
      grpcPort,
      folder: temporary.path,
      etcd: server.address,
      kafka: '',
      redis: behaviours.address,
      isShared: false,
    };
    const planned = localPlan(local, loadConfig().config);
    const all = planned.flatMap((one) => {
      if (one.name === 'gateway') {
        const more = { ...one, variables: Object.assign({}, one.variables, gatewayVariables) };
        return gatewaysOf(more, gateways, nodes);
      }
      return [{ ...one, variables: Object.assign({}, one.variables, SMALL, variables) }];
    });
    const links = new Map<string, CutProxy>();
    for (const { name, variables: own } of all) {
      if (!name.startsWith('node-')) continue;
      const link = await CutProxy.open(server.address);
      links.set(name, link);
      Object.assign(own, { TESSERA_CLUSTER_ETCD: link.address });
    }
    const plan = new Map(all.map((one) => [one.name, one]));
    const cluster = new RealCluster(plan, server, behaviours, links, temporary);
    for (const name of plan.keys()) cluster.move(name, root);
    process.once('exit', () => cluster.killAll());
    return cluster;
  }

  static async start(options: RealClusterOptions): Promise<RealCluster> {
    const cluster = await RealCluster.prepare(options);
    try {
      // The first node begins the log.
      await cluster.begin('node-1');
      await Promise.all(cluster.nodes.slice(1).map((name) => cluster.begin(name)));
      await Promise.all(cluster.gateways.map((name) => cluster.begin(name)));
      await cluster.untilTogether();
      return cluster;
    } catch (thrown) {
      await cluster.close();
      throw thrown;
    }
  }

  get folder(): string {
    return this.temporary.path;
  }

  get nodes(): string[] {
    return [...this.plan.keys()].filter((name) => name.startsWith('node-'));
  }

  get gateways(): string[] {
    return [...this.plan.keys()].filter((name) => name.startsWith('gateway-'));
  }

  planOf(name: string): LocalProcess {
    const plan = this.plan.get(name);
    if (plan === undefined) throw new Error(`expected a process of the cluster, got ${name}`);
    return plan;
  }

  /** From its next start it is the program of another folder. */
  move(name: string, root: string): void {
    const plan = this.planOf(name);
    const [program = plan.main] = /dist\/apps\/.*$/.exec(plan.main) ?? [];
    this.plan.set(name, { ...plan, main: join(root, program) });
  }

  grpcOf(name: string): string {
    return `127.0.0.1:${this.planOf(name).grpcPort}`;
  }

  httpOf(name: string): string {
    return `http://127.0.0.1:${this.planOf(name).httpPort}`;
  }

  /** Link of a node to the server of the log. */
  linkOf(name: string): CutProxy {
    const link = this.links.get(name);
    if (link === undefined) throw new Error(`expected a node of the cluster, got ${name}`);
    return link;
  }

  /** Process ID of a process that runs; 0: it does not. */
  pidOf(name: string): number {
    return this.running.get(name)?.child.pid ?? 0;
  }

  isRunning(name: string): boolean {
    const child = this.running.get(name)?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Resolves when it answers; rejects where it ends before. */
  async begin(name: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
    await untilReady(this.launch(name, more)).catch((thrown: unknown) => {
      const said = this.printed(name).slice(-SAID_MAX);
      throw new Error(`${(thrown as Error).message}\n${said}`, { cause: thrown });
    });
  }

  /** Without waiting for anything. */
  launch(name: string, more: Readonly<Record<string, string>> = {}): Running {
    if (this.isRunning(name)) throw new Error(`${name} runs already`);
    const plan = this.planOf(name);
    const variables = Object.assign({}, plan.variables, more);
    const running = launch(Object.assign({}, plan, { variables }), false);
    this.running.set(name, running);
    return running;
  }

  /** Resolves with the status or signal that it has ended with. */
  async end(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<string> {
    const running = this.running.get(name);
    if (running === undefined) return '';
    this.signal(name, signal);
    if (this.held.has(name)) this.goOn(name);
    return running.ended;
  }

  hold(name: string): void {
    this.held.add(name);
    this.signal(name, 'SIGSTOP');
  }

  goOn(name: string): void {
    this.held.delete(name);
    this.signal(name, 'SIGCONT');
  }

  /** A child of a node stands still from now on. */
  hang(pid: number): void {
    process.kill(pid, 'SIGSTOP');
    this.hung.push(pid);
  }

  /** The stores of a node at a moment; of a running one as a snapshot of its disk is. */
  copyDisk(name: string): string {
    this.copies += 1;
    const to = join(this.folder, 'copies', `${name}-${this.copies}`);
    const runs = this.isRunning(name) && !this.held.has(name);
    if (runs) this.signal(name, 'SIGSTOP');
    try {
      for (const store of this.storesOf(name)) {
        cpSync(join(this.planOf(name).folder, store), join(to, store), { recursive: true });
      }
      mkdirSync(to, { recursive: true });
    } finally {
      if (runs) this.signal(name, 'SIGCONT');
    }
    return to;
  }

  /** All that etcd keeps, at a moment. Resolves when it serves again. */
  async copyLog(): Promise<string> {
    this.copies += 1;
    const to = join(this.folder, 'copies', `log-${this.copies}`);
    const { folder } = this.log as EtcdServer;
    await this.log.kill();
    cpSync(folder, to, { recursive: true });
    await this.log.start();
    return to;
  }

  /** The log becomes an older copy of it. Resolves with a copy of all that it had, none lost. */
  async swapLog(copy: string): Promise<string> {
    this.copies += 1;
    const to = join(this.folder, 'copies', `log-${this.copies}`);
    const { folder } = this.log as EtcdServer;
    await this.log.kill();
    cpSync(folder, to, { recursive: true });
    rmSync(folder, { recursive: true });
    cpSync(copy, folder, { recursive: true });
    await this.log.start();
    return to;
  }

  /** The furthest entry that a node has noted in the store beside the log. */
  get noted(): number {
    const store = this.planOf('node-1').variables.TESSERA_CLUSTER_LOG_STORE ?? '';
    const notes = readdirSync(join(store, 'reached'), { recursive: true, withFileTypes: true });
    return Math.max(0, ...notes.flatMap(({ name }) => Number.parseInt(name, 10) || []));
  }

  /** Empties the stores of a node that does not run. */
  emptyDisk(name: string): void {
    if (this.isRunning(name)) throw new Error(`${name} runs`);
    const { folder } = this.planOf(name);
    for (const store of this.storesOf(name)) rmSync(join(folder, store), { recursive: true });
  }

  rollBack(name: string, copy: string): void {
    this.emptyDisk(name);
    cpSync(copy, this.planOf(name).folder, { recursive: true });
  }

  /** By the command; also while the node runs. */
  backUp(name: string): string {
    this.copies += 1;
    const to = join(this.folder, 'copies', `${name}-backup-${this.copies}`);
    this.command(name, 'backup', '--to', to);
    return to;
  }

  restore(name: string, from: string): void {
    this.command(name, 'restore', '--from', from, '--replace');
  }

  /** A tool with the configuration of a node; what it printed. */
  command(name: string, tool: string, ...words: readonly string[]): string {
    const { variables } = this.planOf(name);
    const env = Object.assign({ PATH: process.env.PATH }, variables);
    const command = [`dist/tools/${tool}.js`, ...words];
    return execFileSync(process.execPath, command, { env, encoding: 'utf8', stdio: 'pipe' });
  }

  /** Output of a tool that asks the log, whose links are in this process. */
  async commandBeside(name: string, tool: string, ...words: readonly string[]): Promise<string> {
    const { variables } = this.planOf(name);
    const env = Object.assign({ PATH: process.env.PATH }, variables);
    const command = [`dist/tools/${tool}.js`, ...words];
    return (await promisify(execFile)(process.execPath, command, { env })).stdout;
  }

  /** Output of a process since the cluster began. */
  printed(name: string): string {
    const path = join(this.planOf(name).folder, LOG_FILE);
    return existsSync(path) ? execFileSync('cat', [path], { encoding: 'utf8' }) : '';
  }

  async health(name: string): Promise<NodeHealth | undefined> {
    const signal = AbortSignal.timeout(ASK_MS);
    const reply = await fetch(`${this.httpOf(name)}/health`, { signal }).catch(() => undefined);
    return (await reply?.json().catch(() => undefined)) as NodeHealth | undefined;
  }

  async condition(name: string, condition: string) {
    return (await this.health(name))?.conditions.find((one) => one.name === condition);
  }

  /** Every node is up by itself, with one offset and one digest; gateways send requests to all. */
  async untilTogether(withinMs = TOGETHER_MS): Promise<void> {
    let seen = '';
    const isSo = async () => {
      const found = await Promise.all(this.nodes.map((name) => this.health(name)));
      const words = found.map((health) =>
        [health?.ready, health?.clusterLog?.offset, health?.clusterLog?.digest].join(' '),
      );
      const tables = await Promise.all(this.gateways.map((name) => this.statesAt(name)));
      const states = tables.map((table) => table.join(' '));
      seen = JSON.stringify([words, states]);
      const isOne = new Set(words).size === 1 && found.every((health) => health?.ready === true);
      return isOne && tables.every((table) => table.every((state) => state === 'up'));
    };
    await until('all nodes are up and equal', isSo, withinMs).catch((thrown: unknown) => {
      throw new Error(`${(thrown as Error).message}: ${seen}`, { cause: thrown });
    });
  }

  /** States of the nodes, as a gateway sees them. */
  async statesAt(gateway: string): Promise<string[]> {
    try {
      const signal = AbortSignal.timeout(ASK_MS);
      const reply = await fetch(`${this.httpOf(gateway)}/v1/cluster`, { signal });
      const { nodes } = (await reply.json()) as { readonly nodes: readonly { state: string }[] };
      return nodes.map(({ state }) => state);
    } catch {
      return ['gateway away'];
    }
  }

  async close(): Promise<void> {
    const names = [...this.running.keys()];
    await Promise.all(names.map((name) => this.end(name, 'SIGKILL')));
    this.wakeHung();
    for (const link of this.links.values()) link.close();
    await this.log.stop();
    await this.behaviours.stop();
    this.temporary.remove();
  }

  private storesOf(name: string): string[] {
    const { folder } = this.planOf(name);
    return readdirSync(folder).filter((entry) => entry !== LOG_FILE);
  }

  private signal(name: string, signal: NodeJS.Signals): void {
    const pid = this.running.get(name)?.child.pid;
    if (pid !== undefined && this.isRunning(name)) process.kill(pid, signal);
  }

  /** They see that their nodes are gone, and end. */
  private wakeHung(): void {
    for (const pid of this.hung.splice(0)) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // Its node has ended it.
      }
    }
  }

  private killAll(): void {
    this.wakeHung();
    for (const name of this.running.keys()) this.signal(name, 'SIGKILL');
    for (const server of [this.log, this.behaviours]) server.signal('SIGKILL');
  }
}

/** Gateways that know the same nodes and nothing of each other. */
function gatewaysOf(one: LocalProcess, count: number, nodes: number): LocalProcess[] {
  return Array.from({ length: count }, (_, at) => {
    const name = `gateway-${at + 1}`;
    const [httpPort, grpcPort] = [one.httpPort, one.grpcPort].map((port) =>
      at === 0 ? port : port + nodes + at,
    ) as [number, number];
    const folder = join(one.folder, '..', name);
    const entries = Object.entries(one.variables).map(([variable, value]) => [
      variable,
      value.replace(one.folder, folder),
    ]);
    const variables = Object.assign(Object.fromEntries(entries), {
      TESSERA_NODE_NAME: name,
      TESSERA_HTTP_PORT: String(httpPort),
      TESSERA_GRPC_PORT: String(grpcPort),
    });
    return { ...one, name, folder, httpPort, grpcPort, variables };
  });
}
