import { readFileSync } from 'node:fs';

/** Cores of `0-3,8` (the list format of cpuset(7)). */
export function coresIn(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = '', last = first] = range.split('-');
    const count = Number(last) - Number(first) + 1;
    return Array.from({ length: count }, (_, index) => Number(first) + index);
  });
}

/** Of the cores of a list the latter half, in the same format; of one core that one. */
export function latterHalf(list: string): string {
  const cores = coresIn(list);
  return cores.slice(Math.floor(cores.length / 2)).join(',');
}

/**
 * Where idle processes may run: on half of the cores that this process has, so that what serves
 * finds others whose caches, and whose kernel, nobody else uses. '' where the system does not say.
 */
export function idleCores(): string {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1];
    return list === undefined ? '' : latterHalf(list);
  } catch {
    return '';
  }
}
