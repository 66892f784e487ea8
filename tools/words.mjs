// Words of a command: flags that are known, each once; any other ends the command with 2.
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Values by flag, of `process.argv`.
 * @param options as those of parseArgs of node:util
 */
export function wordsOf(options) {
  try {
    return parseArgs({ options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const [said] = error.message.split('. ', 1);
    const flags = Object.keys(options).map((name) => `--${name}`);
    const command = basename(process.argv[1] ?? '');
    console.error(`${command}: expected no word but ${flags.join(', ')}: ${said}`);
    process.exit(2);
  }
}
