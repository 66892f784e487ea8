/** The words after the command that starts a process. */
export interface StartFlags {
  readonly file: string | undefined;
  readonly printConfig: boolean;
  /** The log as JSON on the standard output, and nothing else there. */
  readonly jsonLog: boolean;
  /** Configuration by path. */
  readonly values: Readonly<Record<string, string>>;
  /** The process's own flags that are there, with their values; '' of a switch. */
  readonly own: ReadonlyMap<string, string>;
}

const SWITCHES: Readonly<Record<string, 'printConfig' | 'jsonLog'>> = {
  '--print-config': 'printConfig',
  '--json-log': 'jsonLog',
};

/** The variable that a flag with a value sets. */
const SETTINGS: Readonly<Record<string, (value: string) => Record<string, string>>> = {
  '--kafka': (value) => ({ 'kafka.brokers': value }),
  '--redis': (value) => ({ 'behaviours.store': 'redis', 'behaviours.redis': value }),
  '--etcd': (value) => ({ 'cluster.etcd': value }),
  '--behaviours': (value) => ({ 'behaviours.store': 'remote', 'behaviours.remote': value }),
};

export const FLAG_LINES = `  --config FILE           configuration
  --print-config          print the effective configuration and end
  --json-log              the standard output has the log as JSON lines, and nothing else
  --kafka HOST:PORT       serve the topics of a broker (kafka.brokers)
  --redis HOST:PORT       keep behaviours in Redis (behaviours.redis)
  --etcd HOST:PORT        be a node, or a gateway, of the cluster there (cluster.etcd)`;

/** Fault of the words. */
export interface BadFlags {
  readonly reason: string;
}

/** @param ownSwitches of this process alone; `ownSettings`: its flags with a value */
export function parseStartFlags(
  words: readonly string[],
  ownSwitches: readonly string[] = [],
  ownSettings: readonly string[] = [],
): StartFlags | 'help' | BadFlags {
  const own = new Map<string, string>();
  const given = new Set<string>();
  let file: string | undefined;
  const switches = { printConfig: false, jsonLog: false };
  let values: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    if (word === '--help') return 'help';
    if (given.has(word)) return { reason: `${word}: expected it once, got it twice` };
    given.add(word);
    const name = Object.hasOwn(SWITCHES, word) ? SWITCHES[word] : undefined;
    if (name !== undefined) {
      switches[name] = true;
      continue;
    }
    if (ownSwitches.includes(word)) {
      own.set(word, '');
      continue;
    }
    const setting = Object.hasOwn(SETTINGS, word) ? SETTINGS[word] : undefined;
    const isOwn = ownSettings.includes(word);
    if (word !== '--config' && setting === undefined && !isOwn) {
      const known = [
        '--config',
        ...Object.keys(SWITCHES),
        ...Object.keys(SETTINGS),
        ...ownSwitches,
        ...ownSettings,
      ].join(', ');
      return { reason: `${word}: expected one of ${known}` };
    }
    at += 1;
    const value = words[at];
    if (value === undefined) return { reason: `${word}: expected a value, got nothing` };
    if (isOwn) own.set(word, value);
    else if (setting === undefined) file = value;
    else values = { ...values, ...setting(value) };
  }
  return { file, ...switches, values, own };
}
