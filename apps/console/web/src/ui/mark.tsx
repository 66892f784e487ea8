import { Badge, ColorSwatch } from '@mantine/core';
import type { ReactNode } from 'react';

/** A word with a colour beside it: the colour is never all that tells. */
export function Mark({
  color,
  title,
  children,
}: {
  color?: string;
  title?: string;
  children: ReactNode;
}) {
  const swatch =
    color === undefined ? undefined : (
      <ColorSwatch color={`var(--mantine-color-${color}-6)`} size={8} withShadow={false} />
    );
  return (
    <Badge
      variant="default"
      tt="none"
      fw={500}
      miw="max-content"
      leftSection={swatch}
      title={title}
    >
      {children}
    </Badge>
  );
}
