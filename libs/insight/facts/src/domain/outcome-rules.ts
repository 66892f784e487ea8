import { TesseraError } from '@tessera/errors';

/** How behaviours become outcomes of recalls (docs/operate/analysis.md). */
export interface OutcomeRules {
  /** Milliseconds after a recall in which a behaviour without a request ID belongs to it. */
  readonly windowMs: number;
  /** '' is the action of a behaviour that names none; '*': all. */
  readonly clicks: readonly string[];
  readonly impressions: readonly string[];
  readonly conversions: readonly string[];
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const WINDOW = /^(\d{1,6})([smh])$/;
const ACTIONS = /^[^\s,;=]{1,64}(?:,[^\s,;=]{1,64})*$/;

function refusal(text: string): TesseraError {
  const message =
    'inspection.outcomes: expected window=NUMBER and s, m or h; impression=ACTIONS; ' +
    `conversion=ACTIONS, got '${text.slice(0, 200)}'`;
  return new TesseraError('CONFIG_INVALID', message, { field: 'inspection.outcomes' });
}

/**
 * Reads `window=30m; impression=impression; conversion=purchase,order`, and the actions of clicks.
 * @throws TesseraError CONFIG_INVALID
 */
export function parseOutcomes(text: string, clickActions: string): OutcomeRules {
  const members = new Map(
    text.split(';').map((part) => {
      const [name = '', value = ''] = part.split('=').map((side) => side.trim());
      return [name, value] as const;
    }),
  );
  const [, count = '', unit = ''] = WINDOW.exec(members.get('window') ?? '') ?? [];
  const actionsOf = (name: string) => {
    const actions = members.get(name) ?? '';
    if (!ACTIONS.test(actions)) throw refusal(text);
    return actions.split(',');
  };
  if (unit === '' || members.size !== 3) throw refusal(text);
  return {
    windowMs: Number(count) * (UNITS_MS[unit] ?? 0),
    clicks: ['', ...clickActions.split(',').map((action) => action.trim())],
    impressions: actionsOf('impression'),
    conversions: actionsOf('conversion'),
  };
}
