import type { ServiceError } from '@grpc/grpc-js';
import { type CatalogueChange, MESSAGE_CHANGES_MAX, parseChangeLine } from '@tessera/catalogue';
import { errorOf } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import { TesseraError, visible } from '@tessera/errors';
import { applyFile, linesOf } from './catalogue/apply-file.js';
import { applyBatch, exportState, importDelta } from './catalogue/bundles.js';
import { wireChange } from './catalogue/wire-change.js';
import { CatalogueClient, type CatalogueMethod } from './served/catalogue-client.js';
import { CONNECTION_FLAGS, CONNECTION_USAGE, servedAt } from './served/connection.js';
import { Flags, print, runCommand, UsageError } from './terminal/command.js';
import { ProgressLine } from './terminal/progress.js';
import { table } from './terminal/table.js';

const USAGE = `usage: npm run catalogue -- COMMAND [words] [--address HOST:PORT] [--json]

Changes of the catalogue of a service that runs; the next recall sees them:
  apply FILE           JSON lines, each {"op", "item_id", ...}; in batches, all of one or none;
                       with --whole all of the file or none
  upsert JSON          an item as {"item_id", "sid", "title", "attributes", "priority"}; a "text" or
                       "vector" in place of "sid" where the catalogue has codebooks
  pause ID ...         stays known, is recalled no more
  resume ID ...
  remove ID ...
  patch ID JSON        edits of its attributes: {"set", "unset", "add", "take", "delta"}
  pause, resume, remove or patch JSON with --predicate CLAUSE instead of IDs: all that it lets pass
  pace ATTRIBUTE TEXT FACTOR   bids of all items with the text count times the factor, in (0, 1]
  import FOLDER        the delta files of a bundle of Parquet files that follows the items' own
  export FOLDER        the items as they are, as a whole bundle
Versions:
  state                newest version, live and changed items
  versions             versions that can be rolled back to
  compact              make a new snapshot of the newest version
  rollback N           make items what they were at version N

  --catalogue NAME     which of its catalogues (default: the first)
  --address HOST:PORT  of its gRPC edge (default: the configured one)
${CONNECTION_USAGE}
  --predicate CLAUSE   which items, paused ones too: {"attribute": "campaign", "in": ["x"]}
  --tolerate N         bad rows that do not refuse an import, or lines of apply that the service
                       refuses and that are left out (default 0)
  --batch N            changes of a batch of apply at most (default 1000)
  --resume FILE        apply remembers in it how far it came, and goes on there the next time; no
                       batch counts twice, one that was under way at a crash included
  --whole              the file of apply is one batch (at most 1,048,576 changes)
  --json               JSON on the standard output and nothing else`;

const CALL_MS = 60_000;
const COMPACT_MS = 3_600_000;
const BATCH_DEFAULT = 1000;
const TOLERATED_MAX = 1_000_000;

interface Sequence {
  readonly sequence: number;
}

class Commands {
  constructor(
    private readonly client: CatalogueClient,
    private readonly batch: number,
    private readonly isWhole: boolean,
    private readonly resumePath: string | undefined,
    private readonly tolerated: number,
    private readonly predicate: string | undefined,
    private readonly onProgress: ProgressLine['update'],
  ) {}

  run(command: string, words: readonly string[]): Promise<object> {
    switch (command) {
      case 'apply':
        return this.isWhole
          ? this.applyWhole(only(words, 'a file'))
          : this.applyFile(only(words, 'a file'));
      case 'upsert':
        return this.apply([upsertOf(only(words, 'an item as JSON'))]);
      case 'pause':
      case 'resume':
      case 'remove':
        return this.apply(this.statesOf(command, words));
      case 'patch':
        return this.apply([this.patchOf(words)]);
      case 'pace':
        return this.apply([paceOf(words)]);
      case 'import':
        return this.answered(
          importDelta(this.client, only(words, 'a folder'), this.tolerated, this.onProgress),
        );
      case 'export':
        return this.answered(exportState(this.client, only(words, 'a folder'), this.onProgress));
      case 'state':
        return this.call('GetState', {});
      case 'versions':
        return this.call('ListVersions', {});
      case 'compact':
        return this.call('Compact', {}, COMPACT_MS);
      case 'rollback':
        return this.call('RollBack', { sequence: version(only(words, 'a version')) });
      default:
        throw new UsageError(`unknown command '${command}'`);
    }
  }

  private statesOf(
    op: 'pause' | 'resume' | 'remove',
    words: readonly string[],
  ): readonly CatalogueChange[] {
    if (this.predicate === undefined && words.length > 0) {
      return words.map((itemId) => ({ op, itemId }));
    }
    if (this.predicate !== undefined && words.length === 0) {
      return [lineOf({ op, predicate: parsed('--predicate', this.predicate) })];
    }
    throw new UsageError(`${op}: expected item IDs or --predicate`);
  }

  private patchOf(words: readonly string[]): CatalogueChange {
    const op = 'patch_attributes';
    if (this.predicate !== undefined) {
      const edits = parsed('patch', only(words, 'edits as JSON'));
      return lineOf({ ...edits, op, predicate: parsed('--predicate', this.predicate) });
    }
    const [itemId, edits, more] = words;
    if (edits === undefined || more !== undefined) {
      throw new UsageError('patch: expected an item ID and edits as JSON');
    }
    return lineOf({ ...parsed('patch', edits), op, item_id: itemId });
  }

  private call<Answer>(method: CatalogueMethod, message: object, ms = CALL_MS): Promise<Answer> {
    return this.answered(this.client.call<Answer>(method, message, ms));
  }

  private async answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return answer.catch((error: ServiceError | TesseraError) => {
      throw errorOf(error);
    });
  }

  private apply(changes: readonly CatalogueChange[], importMark?: object): Promise<Sequence> {
    return this.call('Apply', { changes: changes.map(wireChange), importMark });
  }

  private async applyWhole(path: string): Promise<object> {
    const changes: CatalogueChange[] = [];
    for await (const { text, number } of linesOf(path)) changes.push(parseChangeLine(text, number));
    const { sequence } = await this.answered(applyBatch(this.client, changes, {}, this.onProgress));
    return { applied: changes.length, sequence };
  }

  /** A line at fault is named by file and number; batches before its own have been applied. */
  private applyFile(path: string): Promise<object> {
    return applyFile((changes, mark) => this.apply(changes, mark), path, {
      batch: this.batch,
      resumePath: this.resumePath,
      tolerated: this.tolerated,
      onBadLine: (line, message) =>
        process.stderr.write(visible(`line ${line} left out: ${message}\n`)),
      onProgress: this.onProgress,
      nowMs: () => performance.now(),
    });
  }
}

function paceOf(words: readonly string[]): CatalogueChange {
  const [attribute, text, factor, more] = words;
  if (factor === undefined || more !== undefined) {
    throw new UsageError('pace: expected an attribute, a text of it and a factor');
  }
  return lineOf({ op: 'set_pace', attribute, text, factor: Number(factor) });
}

function upsertOf(text: string): CatalogueChange {
  const change = parseChangeLine(text, 1);
  if (change.op === 'upsert') return change;
  const message = `op: expected upsert, or none, got ${change.op}`;
  throw new TesseraError('CATALOGUE_INVALID', message, { field: 'op' });
}

function parsed(what: string, text: string): object {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what}: expected JSON, got ${text}: ${(error as Error).message}`);
  }
}

const lineOf = (members: object) => parseChangeLine(JSON.stringify(members), 1);

function only(words: readonly string[], what: string): string {
  const [word] = words;
  if (word === undefined || words.length > 1) throw new UsageError(`expected ${what}, alone`);
  return word;
}

function version(word: string): number {
  const number = Number(word);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new UsageError(`expected the number of a version, got '${word}'`);
}

function shown(answer: object): string {
  const { generations } = answer as { generations?: Record<string, unknown>[] };
  const rows = generations ?? [answer as Record<string, unknown>];
  const names = Object.keys(rows[0] ?? {});
  const cells = rows.map((row) => names.map((name) => cellOf(row[name])));
  return table(
    names.map((name) => ({ name })),
    cells,
  );
}

/** A semantic ID as its codes with dashes. */
function cellOf(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value.map((each) => (each?.sid ? (each as Placed).sid.join('-') : String(each))).join(' ');
}

interface Placed {
  readonly sid: readonly number[];
}

await runCommand(USAGE, async (all) => {
  const at = all.findIndex((word) => word.startsWith('--'));
  const words = at < 0 ? all : all.slice(0, at);
  const flags = Flags.parse(at < 0 ? [] : all.slice(at), {
    address: 'text',
    batch: 'text',
    catalogue: 'text',
    predicate: 'text',
    tolerate: 'text',
    whole: 'switch',
    resume: 'text',
    json: 'switch',
    ...CONNECTION_FLAGS,
  });
  const progress = new ProgressLine();
  const [command, ...rest] = words;
  if (command === undefined) throw new UsageError('expected a command');
  const { address, connection } = servedAt(flags, loadConfig().config);
  const client = new CatalogueClient(address, flags.text('catalogue') ?? '', connection);
  try {
    const batch = flags.integer('batch', 1, MESSAGE_CHANGES_MAX) ?? BATCH_DEFAULT;
    const tolerated = flags.integer('tolerate', 0, TOLERATED_MAX) ?? 0;
    const commands = new Commands(
      client,
      batch,
      flags.has('whole'),
      flags.text('resume'),
      tolerated,
      flags.text('predicate'),
      progress.update,
    );
    const answer = await commands.run(command, rest);
    progress.end();
    await print(flags.has('json') ? JSON.stringify(answer) : shown(answer));
  } finally {
    client.close();
  }
});
