import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const MAIN = 'dist/apps/standalone/src/main.js';

/** Generous: longer than anything that a test waits for takes on a busy machine. */
const METRIC_WAIT_MS = 90_000;

/** Lines of a service that its requests left something behind in, or that nothing awaits. */
const LEFT = /held: expected nothing[^"]*|a failure in the background[^"]*/;

/** Another process than the standalone one, and what it prints when it serves. */
export interface Program {
  /** Left out: the standalone one. */
  readonly main?: string;
  readonly printed?: RegExp;
  /** Left out: the Node that runs the tests. */
  readonly node?: string;
}

const STANDALONE_PRINTED = /Recall for user[\s\S]*\n\s+1 {2}/;

/** Undefined: as where nothing is said. */
type Variables = Readonly<Record<string, string | undefined>>;

/** The environment of the test run without the service's own variables. */
function cleanEnvironment(): Record<string, string | undefined> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('TESSERA_'));
  return Object.fromEntries(entries);
}

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built standalone app as a child process on free ports. */
export class Service {
  stdout = '';
  stderr = '';
  httpUrl = '';
  grpcAddress = '';
  /** Whom HTTP is asked as; '': as nobody. */
  token = '';
  readonly ended: Promise<Ended>;

  private constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk) => {
      this.stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.ended = once(child, 'close').then(([status, signal]) => {
      const { stdout, stderr } = this;
      const left = LEFT.exec(stdout + stderr);
      if (left !== null) throw new Error(`the service ended, and ${left[0]}`);
      return { status, signal, stdout, stderr };
    });
  }

  /** Starts without waiting for anything. */
  static launch(
    variables: Variables,
    flags: readonly string[] = [],
    main = MAIN,
    node = process.execPath,
  ) {
    const env = {
      ...cleanEnvironment(),
      TESSERA_HTTP_PORT: '0',
      TESSERA_GRPC_PORT: '0',
      TESSERA_KV_DISK_BYTES: '0',
      // A busy machine is slow, and a recall that is predicted to be late is refused at once.
      TESSERA_RECALL_DEFAULT_DEADLINE_MS: '30000',
      // Services of one machine would not share the folders of the defaults.
      TESSERA_BEHAVIOURS_STORE: 'file',
      TESSERA_INSPECTION_PATH: '',
      TESSERA_CATALOGUE_CHANGES_PATH: '',
      TESSERA_ADAPTERS_PATH: '',
      TESSERA_WEIGHTS_PATH: '',
      ...variables,
    };
    return new Service(spawn(node, [main, ...flags], { env }));
  }

  /** Starts and waits until it serves and has printed its sample. */
  static async start(
    variables: Variables,
    flags: readonly string[] = [],
    { main, printed = STANDALONE_PRINTED, node }: Program = {},
  ): Promise<Service> {
    const service = Service.launch(variables, flags, main, node);
    await service.printed(printed);
    service.httpUrl = /(?:HTTP|health)\s+(https?:\/\/[^/\s]+)/.exec(service.stdout)?.[1] ?? '';
    service.grpcAddress = /gRPC\s+(\S+)/.exec(service.stdout)?.[1] ?? '';
    return service;
  }

  private async printed(pattern: RegExp): Promise<void> {
    const dead = this.ended.then(({ status, stderr }) => {
      throw new Error(`the service ended with ${status}: ${stderr}`);
    });
    dead.catch(() => undefined);
    while (!pattern.test(this.stdout)) {
      await Promise.race([once(this.child.stdout as NodeJS.ReadableStream, 'data'), dead]);
    }
  }

  async post(body: unknown, signal?: AbortSignal, path = '/v1/recall') {
    const reply = await fetch(this.httpUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.ownHeaders() },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
  }

  /** The sum of a metric's samples, or the one sample if it is named with its labels; else 0. */
  async metric(name: string): Promise<number> {
    const reply = await fetch(`${this.httpUrl}/metrics`, { headers: this.ownHeaders() });
    const text = await reply.text();
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** Of whoever asks. */
  ownHeaders(): Record<string, string> {
    return this.token === '' ? {} : { authorization: `Bearer ${this.token}` };
  }

  /** Asks until the metric has the value; rejects with the last one where it does not get it. */
  async metricBecomes(name: string, value: number): Promise<void> {
    const end = Date.now() + METRIC_WAIT_MS;
    for (;;) {
      const now = await this.metric(name);
      if (now === value) return;
      if (Date.now() > end) throw new Error(`${name}: expected ${value}, it stays at ${now}`);
    }
  }

  /** Of a store or dependency, by its name in /health. */
  async stateOf(condition: string): Promise<string | undefined> {
    const reply = await fetch(`${this.httpUrl}/health`);
    const { conditions } = (await reply.json()) as {
      conditions: readonly { readonly name: string; readonly state: string }[];
    };
    return conditions.find(({ name }) => name === condition)?.state;
  }

  /** Resolves once all topics are served. */
  async topicsServed(): Promise<void> {
    while ((await this.stateOf('kafka')) !== 'ok');
  }

  async stop(): Promise<Ended> {
    this.child.kill('SIGTERM');
    return this.ended;
  }
}
