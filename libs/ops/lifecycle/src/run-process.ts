import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeConfig,
  type LoadedConfig,
  loadConfig,
  parseStartFlags,
  repositoryRoot,
  tokenOfEnvironment,
} from '@tessera/config';
import { TesseraError, visible } from '@tessera/errors';
import { faultOfOpenFiles } from './open-files.js';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Files of a process hold histories and audits: files 0600, folders 0700. */
const CLOSED_TO_OTHERS = 0o077;

/** Of files and folders that this process makes from now on. */
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

/** Of package.json. */
export function serviceVersion(): string {
  return JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')).version;
}

/**
 * The life of a process up to its start: flags, configuration, then `start`. A failure is logged in
 * one line with its code and ends the process with status 1.
 */
export function runProcess(usage: string, start: (loaded: LoadedConfig) => Promise<void>): void {
  const flags = parseStartFlags(process.argv.slice(2));
  if (flags === 'help') {
    print(usage);
    return;
  }
  if ('reason' in flags) {
    process.stderr.write(visible(`${flags.reason}\n--help: all of them\n`));
    process.exitCode = EXIT_USAGE;
    return;
  }
  closeFilesToOthers();
  const { file, printConfig, values } = flags;
  const started = async () => {
    if (tokenOfEnvironment() !== '') {
      process.stderr.write('TESSERA_TOKEN is for commands that call a service: not used here\n');
    }
    const loaded = loadConfig({ ...(file === undefined ? {} : { file }), flags: values });
    if (loaded.ignored.length > 0) {
      const names = loaded.ignored.join(', ');
      process.stderr.write(
        visible(`ignored, set by an orchestrator or another program: ${names}\n`),
      );
    }
    if (printConfig) {
      print(describeConfig(loaded));
      return;
    }
    const fault = faultOfOpenFiles(ownLimits());
    if (fault !== undefined) throw fault;
    await start(loaded);
  };
  started().catch((thrown: unknown) => {
    const error = TesseraError.from(thrown);
    const place = error.field === undefined ? '' : ` (${error.field})`;
    process.stderr.write(visible(`${error.code}${place}: ${error.message}\n`));
    if (error.code === 'INTERNAL' && thrown instanceof Error) {
      process.stderr.write(`${thrown.stack}\n`);
    }
    process.exit(EXIT_FAILED);
  });
}
