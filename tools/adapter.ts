import { join, resolve } from 'node:path';
import type { ServiceError } from '@grpc/grpc-js';
import { DEFAULT_ADAPTER } from '@tessera/adapter';
import { type Connection, channelCredentials, errorOf } from '@tessera/client';
import { type Config, loadConfig } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { readRegular } from '@tessera/files';
import { AdapterClient } from './served/adapter-client.js';
import { askJson, CONNECTION_FLAGS, CONNECTION_USAGE, servedAt } from './served/connection.js';
import { Flags, fail, print, runCommand, UsageError } from './terminal/command.js';
import { ProgressLine } from './terminal/progress.js';
import { table } from './terminal/table.js';

const USAGE = `usage: npm run adapter -- COMMAND [words] [--address HOST:PORT --http URL] [flags]

Adapter versions of a running service (docs/operate/adapter-versions.md); DIGEST: 8 digits or more:
  push FOLDER          keep and validate what PEFT saved there, heads that rank, or both
  list                 all versions of the name, or of all names
  get DIGEST           a version; of a canary, how it fares
  activate DIGEST      serve it from the next request on
  rollback             end the canary, or go back to the version before
                       (--digest DIGEST: only where that one serves)
  pin DIGEST           keep it loaded and on disk
  unpin DIGEST
  delete DIGEST        one that serves nobody

  --name NAME          of the adapter (default: the configured one)
  --share N            activate: for this share of the users, above 0 and below 1
  --force              activate: without the comparison on the golden set
  --cold               activate: without the warm-up
  --base DIGEST        push: the model that it was trained for (default: the "revision" of the
                       folder, or "model" of ranking.json, where it is a digest; or the one that
                       is served)
  --remark TEXT        push: shown with the version
  --http URL           of the HTTP edge, which a push asks for the served model (default: the
                       configured one; named beside --address unless --base is)
  --address HOST:PORT  of the gRPC edge (default: the configured one)
${CONNECTION_USAGE}
  --json               JSON on the standard output and nothing else`;

const CALL_MS = 600_000;
const CONFIG_BYTES_MAX = 1 << 20;
/** Status of /health where the service is not ready: its versions are told all the same. */
const NOT_READY = 503;

function shareOf(flags: Flags): number | undefined {
  const text = flags.text('share');
  if (text === undefined) return undefined;
  const share = Number(text);
  return share > 0 && share < 1 ? share : fail('share', 'a number above 0 and below 1', text);
}

interface Health {
  readonly versions?: { readonly model?: string };
}

/** The versions that the service serves, which its HTTP edge tells. */
async function servedModel(
  flags: Flags,
  { http }: Pick<Config, 'http'>,
  connection: Connection,
): Promise<string> {
  const given = flags.text('http');
  // The port of another edge is not to be guessed from that of gRPC.
  if (given === undefined && flags.has('address')) {
    return fail('http', 'the URL of the HTTP edge beside --address, or --base', 'nothing');
  }
  const scheme = http.certificatePath === '' && !connection.isTls ? 'http' : 'https';
  const url = given ?? `${scheme}://${http.host}:${http.port}`;
  const health = await askJson<Health>(`${url}/health`, connection, NOT_READY).catch(
    (cause: Error) => {
      const { code, message } = TesseraError.from(cause);
      const got = `${url}/health, or --base, got: ${message}`;
      throw new TesseraError(code, `--http: expected a service at ${got}`, { cause });
    },
  );
  return health.versions?.model ?? fail('base', 'a digest', 'nothing');
}

/** Members with the digest of the base weights, as the trainer writes it. */
const BASE_MEMBERS = { 'adapter_config.json': 'revision', 'ranking.json': 'model' } as const;

/** '' where the text is no JSON: the service names the fault. */
function memberOf(text: string, name: string): string {
  try {
    return String(Object(JSON.parse(text))[name]);
  } catch {
    return '';
  }
}

/**
 * The model that a version was trained for, as the trainer writes it; undefined where that is of
 * another form, or no file is there.
 */
async function trainedFor(folder: string): Promise<string | undefined> {
  for (const [file, member] of Object.entries(BASE_MEMBERS)) {
    const bytes = await readRegular(join(folder, file), CONFIG_BYTES_MAX).catch(() => undefined);
    const digest = bytes === undefined ? '' : memberOf(bytes.toString(), member);
    if (/^[0-9a-f]{32}$/.test(digest)) return digest;
  }
  return undefined;
}

class Commands {
  constructor(
    private readonly client: AdapterClient,
    private readonly flags: Flags,
    private readonly name: string,
    private readonly servedModel: () => Promise<string>,
    private readonly progress: ProgressLine,
  ) {}

  run(command: string, words: readonly string[]): Promise<object> {
    const { name } = this;
    switch (command) {
      case 'push':
        return this.push(only(words, 'a folder'));
      case 'list':
        return this.call('List', { name: this.flags.text('name') ?? '' });
      case 'get':
        return this.call('Get', { name, digest: only(words, 'a digest') });
      case 'activate':
        return this.call('Activate', {
          name,
          digest: only(words, 'a digest'),
          share: shareOf(this.flags),
          force: this.flags.has('force'),
          cold: this.flags.has('cold'),
        });
      case 'rollback':
        if (words.length > 0) throw new UsageError('rollback: expected no words');
        return this.call('Rollback', { name, digest: this.flags.text('digest') ?? '' });
      case 'pin':
        return this.call('Pin', { name, digest: only(words, 'a digest') });
      case 'unpin':
        return this.call('Unpin', { name, digest: only(words, 'a digest') });
      case 'delete':
        return this.call('Delete', { name, digest: only(words, 'a digest') });
      default:
        throw new UsageError(`unknown command '${command}'`);
    }
  }

  private async push(folder: string): Promise<object> {
    const named = this.flags.text('base') ?? (await trainedFor(folder));
    const baseModel = named ?? (await this.servedModel());
    const remark = this.flags.text('remark') ?? '';
    const pushed = { name: this.name, baseModel, remark };
    const onProgress = (bytes: number, total: number) =>
      this.progress.update('push', bytes, total, 'bytes');
    return this.answered(this.client.pushFolder(resolve(folder), pushed, CALL_MS, onProgress));
  }

  private call(method: string, message: object): Promise<object> {
    return this.answered(this.client.call<object>(method, message, CALL_MS));
  }

  private answered(answer: Promise<object>): Promise<object> {
    return answer.catch((error: ServiceError | TesseraError) => {
      throw errorOf(error);
    });
  }
}

function only(words: readonly string[], what: string): string {
  const [word] = words;
  if (word === undefined || words.length > 1) throw new UsageError(`expected ${what}, alone`);
  return word;
}

const COLUMNS = [
  'name',
  'digest',
  'state',
  'share',
  'pinned',
  'loaded',
  'fileBytes',
  'holder',
  'leaseUntil',
  'learnedUntil',
  'reason',
];
/** Columns of times, by the member that has them. */
const TIMES: Readonly<Record<string, string>> = {
  leaseUntil: 'leaseUntilMs',
  learnedUntil: 'learnedUntilMs',
};
/** Not cut: a digest is a word of the next command. */
const WHOLE = new Set(['digest', 'leaseUntil', 'learnedUntil', 'reason']);

/** States as docs/operate/adapter-versions.md spells them. */
function cellOf(column: string, row: Readonly<Record<string, unknown>>): string {
  const time = TIMES[column];
  if (time !== undefined) return shownTime(Number(row[time] ?? 0));
  const value = String(row[column]);
  return column === 'state' ? value.replace(/^STATE_/, '').toLowerCase() : value;
}

/** '' for none. */
function shownTime(ms: number): string {
  return ms > 0 ? new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z') : '';
}

function shown(answer: object): string {
  const { version, versions, replaced, comparison } = answer as {
    readonly [key: string]: unknown;
    readonly versions?: readonly Record<string, unknown>[];
  };
  const rows = versions ?? [version, replaced].filter((row) => row !== undefined && row !== null);
  const cells = (rows as readonly Record<string, unknown>[]).map((row) =>
    COLUMNS.map((name) => cellOf(name, row)),
  );
  const lines = [
    table(
      COLUMNS.map((name) => ({ name, isWhole: WHOLE.has(name) })),
      cells,
    ),
  ];
  if (comparison) lines.push('', JSON.stringify(comparison, null, 2));
  return lines.join('\n');
}

await runCommand(USAGE, async (all) => {
  const at = all.findIndex((word) => word.startsWith('--'));
  const words = at < 0 ? all : all.slice(0, at);
  const flags = Flags.parse(at < 0 ? [] : all.slice(at), {
    name: 'text',
    share: 'text',
    force: 'switch',
    cold: 'switch',
    base: 'text',
    digest: 'text',
    remark: 'text',
    http: 'text',
    address: 'text',
    json: 'switch',
    ...CONNECTION_FLAGS,
  });
  const [command, ...rest] = words;
  if (command === undefined) throw new UsageError('expected a command');
  const { config } = loadConfig();
  const { address, connection } = servedAt(flags, config);
  const client = new AdapterClient(address, connection.token, channelCredentials(connection));
  const progress = new ProgressLine();
  try {
    const name = flags.text('name') ?? DEFAULT_ADAPTER;
    const model = () => servedModel(flags, config, connection);
    const answer = await new Commands(client, flags, name, model, progress).run(command, rest);
    progress.end();
    await print(flags.has('json') ? JSON.stringify(answer) : shown(answer));
  } finally {
    client.close();
  }
});
