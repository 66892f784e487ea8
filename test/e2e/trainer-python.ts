import { spawnSync } from 'node:child_process';

const PYTHONS = [process.env.TRAINER_PYTHON ?? '', '.venv/bin/python', 'python3'].concat(
  '.cache/folders/bin/python',
);

/** First Python of this machine that has all these packages; undefined where none has. */
export function pythonWith(packages: readonly string[]): string | undefined {
  const script =
    'from importlib.util import find_spec; ' +
    `exit(not all(map(find_spec, ${JSON.stringify(packages)})))`;
  return PYTHONS.find((name) => name !== '' && spawnSync(name, ['-c', script]).status === 0);
}
