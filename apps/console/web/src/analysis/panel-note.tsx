import { Text } from '@mantine/core';
import { formatCount } from '../ui/format.js';

/** Says which figures rest on a panel of the users; nothing where they rest on all. */
export function PanelNote({ oneIn, figures }: { oneIn: number; figures: string }) {
  if (oneIn === 1) return null;
  return (
    <Text size="sm" c="dimmed">
      {figures}: from a panel of one user in {formatCount(oneIn)}.
    </Text>
  );
}
