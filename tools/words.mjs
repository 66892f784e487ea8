// Words of a command: any that it does not know ends it with 2.
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Values by flag, of `process.argv`.
 * @param switches names of flags that are there or not
 * @param texts names of flags that a text follows
 */
export function wordsOf(switches, texts = []) {
  const options = Object.fromEntries([
    ...switches.map((name) => [name, { type: 'boolean' }]),
    ...texts.map((name) => [name, { type: 'string' }]),
  ]);
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
