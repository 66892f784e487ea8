import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@tessera/config';
import { residentBytesOf } from '../process-usage.js';

const MAIN = join('dist', 'apps', 'standalone', 'src', 'main.js');
const SERVING = /Recall for user|the sample recall failed/;
const NANOSECONDS_PER_MS = 1e6;

/** The service as `npm start` runs it, in a process of its own with folders of its own. */
export class ServedProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly folder: string,
    readonly httpUrl: string,
    readonly grpcAddress: string,
  ) {}

  /**
   * `keys` are laid over the defaults of the configuration, area by area.
   * @param root checkout whose build is started
   * @param folder of one that was killed, whose stores this one takes over
   */
  static async start(
    keys: Readonly<Record<string, object>>,
    root = repositoryRoot,
    folder = mkdtempSync(join(tmpdir(), 'tessera-overload-')),
  ): Promise<ServedProcess> {
    const own = {
      http: { port: 0 },
      grpc: { port: 0 },
      behaviours: { path: join(folder, 'behaviours') },
      catalogue: { changesPath: join(folder, 'changes'), cachePath: join(folder, 'cache') },
      adapters: { path: join(folder, 'adapters') },
      weights: { path: '' },
      inspection: { path: join(folder, 'inspection') },
      kv: { path: join(folder, 'kv') },
      log: { level: 'fatal' },
    };
    const config = join(folder, 'config.json');
    const merged = Object.entries({ ...own, ...keys }).map(([area, values]) => [
      area,
      { ...own[area as keyof typeof own], ...values },
    ]);
    writeFileSync(config, JSON.stringify(Object.fromEntries(merged)));
    const child = spawn(process.execPath, [join(root, MAIN), '--config', config], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    let printed = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (status) => reject(new Error(`the service ended with ${status}`)));
      child.stdout?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (SERVING.test(printed)) resolve();
      });
    });
    const address = (pattern: RegExp) => pattern.exec(printed)?.[1] ?? '';
    const httpUrl = address(/HTTP\s+(http:\S+)\/v1\/recall/);
    return new ServedProcess(child, folder, httpUrl, address(/gRPC\s+(\S+)\s/));
  }

  get pid(): number {
    return this.child.pid as number;
  }

  /** Bytes of memory that the process has now. */
  residentBytes(): number {
    return residentBytesOf(this.pid);
  }

  /** Milliseconds of CPU that Node's main thread has taken so far. */
  mainThreadMs(): number {
    const [onCpuNs] = readFileSync(`/proc/${this.pid}/task/${this.pid}/schedstat`, 'utf8').split(
      ' ',
    );
    return Number(onCpuNs) / NANOSECONDS_PER_MS;
  }

  /** As `kill -9`: its folder stays. */
  async kill(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
