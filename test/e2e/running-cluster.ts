import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { TesseraClient } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { freePort, freePorts, temporaryFolder, until } from '@tessera/testing';
import { type LocalClusterOptions, localPlan } from '../../tools/cluster/local-plan.js';
import { launch, type Running, untilReady } from '../../tools/cluster/local-processes.js';

export const DEADLINE_MS = 30_000;

export interface NodeState {
  readonly name: string;
  readonly state: string;
  readonly reason: string;
  readonly grpc: string;
  readonly http: string;
  /** Requests that the gateway waits for. */
  readonly inFlight: number;
  /** How far it is in the cluster's log. */
  readonly log: { readonly identity: string; readonly offset: number; readonly digest: string };
}

/** `npm run cluster` on free ports, and what tests ask of it. */
export class RunningCluster {
  readonly client: TesseraClient;
  readonly httpUrl: string;
  readonly gatewayAddress: string;
  private readonly restarted: Running[] = [];

  private constructor(
    readonly options: LocalClusterOptions,
    private readonly command: ChildProcess,
    private readonly said: { text: string },
    private readonly temporary: ReturnType<typeof temporaryFolder>,
    /** Of all processes. */
    private readonly variables: Readonly<Record<string, string>>,
  ) {
    this.httpUrl = `http://127.0.0.1:${options.httpPort}`;
    this.gatewayAddress = `127.0.0.1:${options.grpcPort}`;
    this.client = new TesseraClient(this.gatewayAddress);
  }

  /**
   * @param more.relevance folder of a model that scores texts
   * @param more.isShared a Redis keeps keys and values for all nodes
   * @param more.append nodes beside these that only append
   * @param more.variables of all processes
   */
  static async start(
    nodes: number,
    more: {
      readonly kafka?: string;
      readonly redis?: string;
      readonly relevance?: string;
      readonly isShared?: boolean;
      readonly append?: number;
      readonly variables?: Readonly<Record<string, string>>;
    },
  ) {
    const temporary = temporaryFolder({});
    const { append = 0 } = more;
    const steps = Array.from({ length: nodes + append + 1 }, (_, step) => step);
    const httpPort = await freePorts(12_000, [...steps, 100, 110, 111]);
    const grpcPort = await freePorts(22_000, [...steps.map((step) => step + 9), 0, 100]);
    const folder = join(temporary.path, 'cluster');
    const { kafka = '', redis = '', relevance = '', isShared = false } = more;
    const options = { nodes, append, httpPort, grpcPort, folder, etcd: '', kafka, redis, isShared };
    const words = Object.entries({
      '--nodes': nodes,
      '--folder': folder,
      '--http-port': httpPort,
      '--grpc-port': grpcPort,
      '--kafka': kafka,
      '--redis': redis,
    }).flatMap(([name, value]) => (value === '' ? [] : [name, String(value)]));
    if (isShared) words.push('--shared');
    if (append > 0) words.push('--append', String(append));
    const own = { TESSERA_RELEVANCE_PATH: relevance };
    const env = Object.assign({}, process.env, own, more.variables);
    const command = spawn(process.execPath, ['dist/tools/cluster.js', ...words], { env });
    const said = { text: '' };
    for (const stream of [command.stdout, command.stderr]) {
      stream.on('data', (chunk) => {
        said.text += chunk;
      });
    }
    await until('the gateway serves', () => {
      if (command.exitCode !== null) throw new Error(said.text);
      return /metrics {2}http/.test(said.text);
    });
    return new RunningCluster(options, command, said, temporary, more.variables ?? {});
  }

  /** A folder for what a test writes. */
  get folder(): string {
    return this.temporary.path;
  }

  /** Output of the command and its gateway. */
  get stdout(): string {
    return this.said.text;
  }

  pidOf(name: string): number {
    const started = [...this.stdout.matchAll(new RegExp(`${name}  pid (\\d+)`, 'g'))];
    return Number(started.at(-1)?.[1]);
  }

  async state(at = this.httpUrl): Promise<readonly NodeState[]> {
    const reply = await fetch(`${at}/v1/cluster`);
    return ((await reply.json()) as { readonly nodes: readonly NodeState[] }).nodes;
  }

  async node(name: string): Promise<NodeState | undefined> {
    return (await this.state()).find((node) => node.name === name);
  }

  untilIs(name: string, state: string): Promise<void> {
    return until(`${name} is ${state}`, async () => (await this.node(name))?.state === state);
  }

  async ownerOf(userId: string): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ userId });
    const reply = await fetch(`${this.httpUrl}/v1/cluster/route`, {
      method: 'POST',
      headers,
      body,
    });
    return ((await reply.json()) as { owner: string }).owner;
  }

  /** By user. */
  async owners(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const owners = new Map<string, string>();
    for (const userId of userIds) owners.set(userId, await this.ownerOf(userId));
    return owners;
  }

  async recalled(userId: string) {
    const answer = await this.client.recall({ userId, resultCount: 5 }, DEADLINE_MS);
    const items = answer.items.map(({ itemId, score }) => [itemId, score]);
    return { items: JSON.stringify(items), node: answer.versions?.node };
  }

  /** Expected answer to every recall of these users, from any node. */
  async expectedOf(userIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const expected = new Map<string, string>();
    for (const userId of userIds) expected.set(userId, (await this.recalled(userId)).items);
    return expected;
  }

  planOf(name: string) {
    const plan = localPlan(this.options, loadConfig().config).find((one) => one.name === name);
    if (plan === undefined) throw new Error(`no ${name}`);
    return { ...plan, variables: { ...this.variables, ...plan.variables } };
  }

  /** Starts a node again, as the command had started it. */
  async restart(name: string): Promise<void> {
    // It may be finishing calls although gateways know that it leaves.
    await until(`the process of ${name} has ended`, () => !isRunning(this.pidOf(name)));
    const running = launch(this.planOf(name), false);
    this.restarted.push(running);
    await untilReady(running);
    await this.untilIs(name, 'up');
  }

  /** A second gateway before the same nodes, in the same group of the broker where it has one. */
  async secondGateway(more: Readonly<Record<string, string>> = {}) {
    const [httpPort, grpcPort] = [await freePort(), await freePort()];
    const plan = this.planOf('gateway');
    const own = join(this.folder, `gateway-${grpcPort}`);
    const variables = Object.assign({}, plan.variables, {
      TESSERA_NODE_NAME: 'gateway-2',
      TESSERA_HTTP_PORT: String(httpPort),
      TESSERA_GRPC_PORT: String(grpcPort),
      ...more,
    });
    const running = launch(
      Object.assign({}, plan, { folder: own, httpPort, grpcPort, variables }),
      false,
    );
    this.restarted.push(running);
    await untilReady(running);
    const httpUrl = `http://127.0.0.1:${httpPort}`;
    return { running, httpUrl, grpcAddress: `127.0.0.1:${grpcPort}` };
  }

  async end(): Promise<void> {
    this.client.close();
    for (const { child, ended } of this.restarted) {
      child.kill('SIGTERM');
      await ended;
    }
    this.command.kill('SIGTERM');
    if (this.command.exitCode === null) await once(this.command, 'exit');
    this.temporary.remove();
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
