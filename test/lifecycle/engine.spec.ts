import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const CHILD = fileURLToPath(new URL('engine-child.mjs', import.meta.url));
const TIMEOUT_MS = 60_000;

function end(how: string): { status: number | null; signal: string | null; text: string } {
  const child = spawnSync(process.execPath, ['--expose-gc', CHILD, how], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  });
  return { status: child.status, signal: child.signal, text: child.stdout + child.stderr };
}

describe('the engine in a process that ends', () => {
  it.each([
    ['exit', 'exits in the middle of its work without closing it'],
    ['close', 'closes it twice at once and completes every request exactly once'],
    ['drain', 'drains it and gets every answer'],
    ['terminate', 'terminates the worker threads that run it'],
    ['drop', 'opens and closes it again and again'],
  ])('leaves no crash behind when the process %s: it %s', { timeout: TIMEOUT_MS }, (how) => {
    const { status, signal, text } = end(how);
    expect(text).toContain('done');
    expect({ status, signal, text }).toMatchObject({ status: 0, signal: null });
  });

  it('lets an uncaught exception end the process as usual', { timeout: TIMEOUT_MS }, () => {
    const { status, signal, text } = end('throw');
    expect(text).toContain('thrown on purpose');
    expect({ status, signal }).toEqual({ status: 1, signal: null });
  });
});
