import type { ServiceError } from '@grpc/grpc-js';
import { channelCredentials, errorOf } from '@tessera/client';
import { loadConfig } from '@tessera/config';
import type { TesseraError } from '@tessera/errors';
import { AdapterClient } from './served/adapter-client.js';
import { CONNECTION_FLAGS, CONNECTION_USAGE, servedAt } from './served/connection.js';
import { Flags, fail, print, runCommand, UsageError } from './terminal/command.js';

const USAGE = `usage: npm run weights -- COMMAND [words] [flags]

Whole weights of a service that runs (docs/operate/adapter-versions.md):
  show                 which set serves, and which one rollback goes back to
  update NAME          serve the set of this name in weights.path from the next batch on
                       (--end-adapters: the adapters of the old weights end, heads that rank
                       too; prints those that served)
  rollback             go back to the set before

  --address HOST:PORT  of the gRPC edge (default: the configured one)
${CONNECTION_USAGE}
  --json               JSON on the standard output and nothing else`;

const CALL_MS = 600_000;

function callOf(
  command: string | undefined,
  words: readonly string[],
  endAdapters: boolean,
): [string, object] {
  const [name] = words;
  if (endAdapters && command !== 'update') fail('end-adapters', 'update NAME', `${command}`);
  if (command === 'update' && name !== undefined && words.length === 1) {
    return ['Update', { name, endAdapters }];
  }
  if (command === 'rollback' && words.length === 0) return ['Rollback', {}];
  if (command === 'show' && words.length === 0) return ['Get', {}];
  throw new UsageError('expected show, update NAME or rollback');
}

interface Ended {
  readonly name: string;
  readonly digest: string;
}
interface Version extends Ended {
  readonly state: string;
  readonly pinned: boolean;
}

/** Versions that an update would end; none where the caller may not see them. */
async function serving(client: AdapterClient): Promise<readonly Ended[]> {
  const none = { versions: [] as readonly Version[] };
  const { versions } = await client.call<typeof none>('List', {}, CALL_MS).catch(() => none);
  return versions
    .filter(({ state, pinned }) => pinned || /^STATE_(ACTIVE|CANARY)$/.test(state))
    .map(({ name, digest }) => ({ name, digest }));
}

function shown(answer: object, ended: readonly Ended[]): string {
  const lines = Object.entries(answer).map(([name, value]) => `${name}: ${value || '-'}`);
  lines.push(...ended.map(({ name, digest }) => `ended: ${name} ${digest}`));
  if (ended.length > 0) {
    lines.push(
      'The ended versions are of the weights before: until versions of the new weights are',
      'activated, the new weights answer alone, and `rank` is refused where its heads have ended.',
    );
  }
  return lines.join('\n');
}

await runCommand(USAGE, async (all) => {
  const at = all.findIndex((word) => word.startsWith('--'));
  const [command, ...words] = at < 0 ? all : all.slice(0, at);
  const flags = Flags.parse(at < 0 ? [] : all.slice(at), {
    address: 'text',
    'end-adapters': 'switch',
    json: 'switch',
    ...CONNECTION_FLAGS,
  });
  const [method, message] = callOf(command, words, flags.has('end-adapters'));
  const { address, connection } = servedAt(flags, loadConfig().config);
  const credentials = channelCredentials(connection);
  const clientOf = (kind: 'adapter' | 'weights') =>
    new AdapterClient(address, connection.token, credentials, kind);
  const [client, adapters] = [clientOf('weights'), clientOf('adapter')];
  try {
    const isEnding = flags.has('end-adapters');
    const ended = isEnding ? await serving(adapters) : [];
    const answer = await client
      .call<object>(method, message, CALL_MS)
      .catch((error: ServiceError | TesseraError) => {
        throw errorOf(error);
      });
    const told = isEnding ? Object.assign({}, answer, { ended }) : answer;
    await print(flags.has('json') ? JSON.stringify(told) : shown(answer, ended));
  } finally {
    client.close();
    adapters.close();
  }
});
