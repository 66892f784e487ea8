import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** The heading of a page, which its address is called in the browser as well. */
export function PageTitle({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Group justify="space-between" align="flex-start" mb="md">
      <title>{`${title} · Tessera`}</title>
      <Stack gap={2} maw="70ch">
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {children !== undefined && (
          <Text c="dimmed" size="sm" component="div">
            {children}
          </Text>
        )}
      </Stack>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}

/** A part of a page: a line above it, its heading, and one place for help. */
export function Section({
  title,
  help,
  actions,
  children,
}: {
  title: string;
  help?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <Box component="section" className="section" aria-labelledby={id}>
      <Group justify="space-between" align="baseline" gap="xs" mb="xs">
        <Box>
          <Title order={2} size="h4" id={id}>
            {title}
          </Title>
          {help !== undefined && (
            <Text c="dimmed" size="sm" component="div" maw="80ch">
              {help}
            </Text>
          )}
        </Box>
        {actions}
      </Group>
      {children}
    </Box>
  );
}
