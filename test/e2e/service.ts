import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const MAIN = 'dist/apps/standalone/src/main.js';

/** Another process than the standalone one, and what it prints when it serves. */
export interface Program {
  readonly main: string;
  readonly printed: RegExp;
}

const STANDALONE: Program = { main: MAIN, printed: /Recall for user[\s\S]*\n\s+1 {2}/ };

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
  readonly ended: Promise<Ended>;

  private constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk) => {
      this.stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.ended = once(child, 'close').then(([status, signal]) => ({
      status,
      signal,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** Starts without waiting for anything. */
  static launch(variables: Variables, flags: readonly string[] = [], main = MAIN) {
    const env = {
      ...cleanEnvironment(),
      TESSERA_HTTP_PORT: '0',
      TESSERA_GRPC_PORT: '0',
      TESSERA_KV_DISK_BYTES: '0',
      // Services of one machine would not share the folders of the defaults.
      TESSERA_BEHAVIOURS_STORE: 'file',
      TESSERA_INSPECTION_PATH: '',
      TESSERA_CATALOGUE_CHANGES_PATH: '',
      TESSERA_ADAPTERS_PATH: '',
      ...variables,
    };
    return new Service(spawn(process.execPath, [main, ...flags], { env }));
  }

  /** Starts and waits until it serves and has printed its sample. */
  static async start(
    variables: Variables,
    flags: readonly string[] = [],
    { main, printed }: Program = STANDALONE,
  ): Promise<Service> {
    const service = Service.launch(variables, flags, main);
    await service.printed(printed);
    service.httpUrl = /(?:HTTP|health)\s+(http:\/\/[^/\s]+)/.exec(service.stdout)?.[1] ?? '';
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
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
  }

  /** One sample of a metric, 0 where it is not there yet. */
  async metric(sample: string): Promise<number> {
    const text = await (await fetch(`${this.httpUrl}/metrics`)).text();
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `));
    return line === undefined ? 0 : Number(line.slice(sample.length));
  }

  /** Asks until the metric has the value; the test's own time limit ends a vain wait. */
  async metricBecomes(sample: string, value: number): Promise<void> {
    while ((await this.metric(sample)) !== value);
  }

  async stop(): Promise<Ended> {
    this.child.kill('SIGTERM');
    return this.ended;
  }
}
