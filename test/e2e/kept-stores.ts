/** Stores below a folder, and the tools that keep, restore and repair them. */

import { type SpawnOptions, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedBehaviourLog, parseRetention } from '../../libs/service/behaviour/src/index.js';

export const variablesOf = (root: string) => ({
  PATH: process.env.PATH,
  TESSERA_BEHAVIOURS_PATH: join(root, 'behaviours'),
  TESSERA_CATALOGUE_CHANGES_PATH: join(root, 'changes'),
  TESSERA_ADAPTERS_PATH: join(root, 'adapters'),
  TESSERA_WEIGHTS_PATH: join(root, 'weights'),
});

export interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** Runs a program of `dist` with the stores; `options` may add variables of its own. */
export async function runProgram(
  root: string,
  program: string,
  words: readonly string[],
  options: SpawnOptions = {},
): Promise<Ended> {
  const env = Object.assign(variablesOf(root), options.env);
  const child = spawn(process.execPath, [program, ...words], Object.assign({}, options, { env }));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data) => {
      output += data;
    });
  }
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, output };
}

export const runTool = (
  root: string,
  tool: string,
  words: readonly string[],
  options?: SpawnOptions,
) => runProgram(root, `dist/tools/${tool}.js`, words, options);

export const openBehaviours = (root: string) =>
  EmbeddedBehaviourLog.open({
    path: join(root, 'behaviours'),
    retention: parseRetention('*=100000'),
    nowMs: Date.now,
  });

export const event = (n: number) => ({
  userId: `user-${n % 7}`,
  eventId: String(n),
  itemId: 'item',
  action: 'view',
  timeMs: 1_000_000 + n,
  scene: {},
});

/** The behaviour of one user, and a catalogue without changes. */
export async function writeTwoStores(root: string): Promise<void> {
  const log = await openBehaviours(root);
  await log.append([event(1)]);
  await log.close();
  mkdirSync(join(root, 'changes', 'digest'), { recursive: true });
  writeFileSync(join(root, 'changes', 'digest', 'marks'), '');
}
