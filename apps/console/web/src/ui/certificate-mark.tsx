import type { Certificate } from '../../../src/api-types.js';
import { formatCount } from './format.js';
import { Mark } from './mark.js';

/** How a recall was searched and what that proves; nothing of one recorded before there was any. */
export function CertificateMark({ search, certified, gap, rows = 0 }: Partial<Certificate>) {
  if (search === undefined) return null;
  const missed = gap === undefined ? 'not certified' : `gap ${gap.toFixed(3)}`;
  const title = certified
    ? 'No other live and eligible item is better.'
    : 'The gap is the best score that an item missed by the search could have.';
  return (
    <Mark color={certified ? 'teal' : 'orange'} title={title}>
      {search} search: {certified ? 'certified' : missed}, {formatCount(rows)} rows
    </Mark>
  );
}
