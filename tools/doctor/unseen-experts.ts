import type { MeasuredScales } from '@tessera/engine';

/** A line for each layer with experts that no prompt reached, none where all were. */
export function unseenLines(unseen: MeasuredScales['unseen']): string[] {
  const byLayer = new Map<number, number[]>();
  for (const { layer, expert } of unseen) {
    const experts = byLayer.get(layer) ?? [];
    byLayer.set(layer, [...experts, expert]);
  }
  return [...byLayer].map(
    ([layer, experts]) =>
      `layer ${layer}: no row chose ${experts.length === 1 ? 'expert' : 'experts'} ` +
      `${experts.join(', ')}; the scale is the largest of the layer's other experts`,
  );
}
