import { formatCount } from './format.js';

/** Bars of one height scale, each with its count in words. */
export function Histogram({
  label,
  bins,
  unit,
}: {
  label: string;
  /** Bins, the lowest first, with their names. */
  bins: readonly { readonly name: string; readonly count: number }[];
  /** Unit of the counts. */
  unit: string;
}) {
  const most = Math.max(1, ...bins.map(({ count }) => count));
  return (
    <ul className="histogram" aria-label={label}>
      {bins.map(({ name, count }) => (
        <li key={name} title={`${name}: ${formatCount(count)} ${unit}`}>
          <span className="count">{count === 0 ? '' : formatCount(count)}</span>
          <span
            className="bar"
            aria-hidden="true"
            style={{ height: `${Math.round((count / most) * 80)}px` }}
          />
          <span className="name">{name}</span>
        </li>
      ))}
    </ul>
  );
}
