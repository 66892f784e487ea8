import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkKeyFiles,
  describeConfig,
  type LoadedConfig,
  loadConfig,
  parseStartFlags,
  repositoryRoot,
  tokenOfEnvironment,
} from '@tessera/config';
import { visible } from '@tessera/errors';
import { diskError, errorOfSystem } from '@tessera/files';
import { outliveOutput } from './lost-output.js';
import { faultOfOpenFiles } from './open-files.js';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const print = (line: string) => process.stdout.write(`${line}\n`);

/** All that a start was for: it fails where the line cannot be written, but not for its reader. */
function answer(text: string): void {
  process.stdout.write(`${text}\n`, (fault) => {
    if (!fault || (fault as NodeJS.ErrnoException).code === 'EPIPE') return;
    const { code, message } = diskError(fault, 'standard output');
    tellPlain('fatal', `${code}: ${message}`);
    process.exitCode = EXIT_FAILED;
  });
}

/** Files of a process hold histories and audits: files 0600, folders 0700. */
const CLOSED_TO_OTHERS = 0o077;

/** Hides files and folders that this process makes from now on from other users. */
export function closeFilesToOthers(): void {
  process.umask(CLOSED_TO_OTHERS);
}

/** '' where the system does not say them. */
function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

/** Version in package.json. */
export function serviceVersion(): string {
  return JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')).version;
}

type Tell = (level: 'warn' | 'fatal', text: string, fields?: object) => void;

/** Lines of a start that has no log yet. */
const tellPlain: Tell = (_level, text) => process.stderr.write(visible(`${text}\n`));
const tellAsLog: Tell = (level, msg, fields) =>
  print(JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg }));

/**
 * The life of a process up to its start: flags, configuration, then `start`. A failure is logged in
 * one line with its code and ends the process with status 1.
 * @param ownSwitches flags of this process alone; `start` gets those that are there
 * @param ownSettings its flags with a value
 */
export function runProcess(
  usage: string,
  start: (
    loaded: LoadedConfig,
    isJsonLog: boolean,
    own: ReadonlyMap<string, string>,
  ) => Promise<void>,
  ownSwitches: readonly string[] = [],
  ownSettings: readonly string[] = [],
): void {
  outliveOutput();
  const flags = parseStartFlags(process.argv.slice(2), ownSwitches, ownSettings);
  if (flags === 'help') {
    answer(usage);
    return;
  }
  if ('reason' in flags) {
    process.stderr.write(visible(`${flags.reason}\n--help: all of them\n`));
    process.exitCode = EXIT_USAGE;
    return;
  }
  closeFilesToOthers();
  const { file, printConfig, jsonLog, values, own } = flags;
  const tell = jsonLog ? tellAsLog : tellPlain;
  const started = async () => {
    if (tokenOfEnvironment() !== '') {
      tell('warn', 'TESSERA_TOKEN is for commands that call a service: not used here');
    }
    const loaded = loadConfig({ ...(file === undefined ? {} : { file }), flags: values });
    if (loaded.ignored.length > 0) {
      const names = loaded.ignored.join(', ');
      tell('warn', `ignored, set by an orchestrator or another program: ${names}`);
    }
    if (printConfig) {
      answer(describeConfig(loaded));
      return;
    }
    const fault = faultOfOpenFiles(ownLimits());
    if (fault !== undefined) throw fault;
    checkKeyFiles(loaded.config);
    await start(loaded, jsonLog, own);
  };
  started().catch((thrown: unknown) => {
    const error = errorOfSystem(thrown);
    const place = error.field === undefined ? '' : ` (${error.field})`;
    const { code, field, message } = error;
    const stack = code === 'INTERNAL' && thrown instanceof Error ? thrown.stack : undefined;
    if (jsonLog) tellAsLog('fatal', message, { code, field, stack });
    else tellPlain('fatal', [`${code}${place}: ${message}`, stack ?? []].flat().join('\n'));
    process.exit(EXIT_FAILED);
  });
}
