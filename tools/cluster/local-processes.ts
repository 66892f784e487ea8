import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TesseraError } from '@tessera/errors';
import type { LocalProcess } from './local-plan.js';

const LOOK_EVERY_MS = 100;
/** A model takes its time to load. */
const READY_MS_MAX = 300_000;

export interface Running {
  readonly process: LocalProcess;
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}

/** Starts a process with a log in its folder, or, for the gateway, on this terminal. */
export function launch(process_: LocalProcess, isShown: boolean): Running {
  const { main, folder, variables } = process_;
  mkdirSync(folder, { recursive: true });
  const log = isShown ? undefined : openSync(join(folder, 'log'), 'a');
  const output = log ?? 'inherit';
  const words = Object.entries(variables).map(([variable, value]) => `${variable}=${value}`);
  // `env` becomes the process that it starts.
  const child = spawn('env', [...words, process.execPath, main], {
    stdio: ['ignore', output, output],
    // Control-C reaches this command alone, which ends them in their order.
    detached: true,
  });
  if (log !== undefined) closeSync(log);
  const ended = once(child, 'exit').then(([status, signal]) => String(signal ?? status));
  return { process: process_, child, ended };
}

/** Resolves when a process takes requests. Rejects with IO_FAILED where it ends before. */
export async function untilReady({ process: { name, folder, httpPort }, child }: Running) {
  const end = performance.now() + READY_MS_MAX;
  for (;;) {
    const url = `http://127.0.0.1:${httpPort}/health/live`;
    const reply = await fetch(url).catch(() => undefined);
    if (reply?.ok === true) return;
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > end) {
      const message = `${name}: expected it to serve, got an end: see ${join(folder, 'log')}`;
      throw new TesseraError('IO_FAILED', message);
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Ends one after the other, the last that was started first. */
export async function endAll(running: readonly Running[]): Promise<void> {
  for (const { child, ended } of [...running].reverse()) {
    child.kill('SIGTERM');
    await ended;
  }
}
