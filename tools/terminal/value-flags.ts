import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@tessera/config';
import type { RecallRequest } from '@tessera/recall';
import { type FlagKind, type Flags, fail } from './command.js';

/** By what items go, of commands that recall (docs/concepts/value.md). */
export const VALUE_FLAGS: Readonly<Record<string, FlagKind>> = {
  valuation: 'text',
  valuations: 'text',
};

export const VALUE_USAGE = `  --valuation NAME     by value in place of score, e.g. ecpm
  --valuations FILE    formulas of values (default: as configured, or of the model folder)`;

/** File of the formulas; '' where the command goes by score. */
export function valuationsPath(flags: Flags, config: Config, modelPath: string): string {
  if (!flags.has('valuation') && !flags.has('rank-valuation')) return '';
  const given = flags.text('valuations');
  if (given !== undefined) return given;
  if (!flags.has('model') && !flags.has('catalogue')) return config.recall.valuations;
  const inFolder = join(modelPath, 'valuations.json');
  return existsSync(inFolder) ? inFolder : '';
}

export function readValuation(flags: Flags): Pick<RecallRequest, 'valuation'> {
  const name = flags.text('valuation');
  return name === undefined ? {} : { valuation: { name, weights: {} } };
}

/** Drawn places (docs/concepts/exploration.md). */
export const EXPLORE_FLAGS: Readonly<Record<string, FlagKind>> = {
  explore: 'text',
  temperature: 'text',
  seed: 'text',
};

export const EXPLORE_USAGE = `  --explore N          last places that are drawn by likelihood
  --temperature T      of the draw (default 1: the model's own); higher: unlikely items more
  --seed N             draws the same places again (default: another each time)`;

export function readExplore(flags: Flags, slotsMax: number): Pick<RecallRequest, 'explore'> {
  const slots = flags.integer('explore', 1, slotsMax);
  const lone = ['temperature', 'seed'].find((name) => flags.has(name));
  if (slots === undefined && lone !== undefined) fail(lone, 'none without --explore', 'one');
  if (slots === undefined) return {};
  const text = flags.text('temperature');
  const seed = flags.integer('seed', 0, Number.MAX_SAFE_INTEGER);
  return {
    explore: {
      slots,
      ...(text !== undefined && { temperature: Number(text) }),
      ...(seed !== undefined && { seed }),
    },
  };
}
