import { Alert, Button, Code, Paper, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Unreached } from '../../../src/api-types.js';
import { ApiError } from '../api.js';

export const ADVICE: Readonly<Record<string, string>> = {
  UNREACHABLE: 'See that the service runs, then try again. What is shown may be older than now.',
  USER_NOT_FOUND: 'Choose a user from the list, or write a history of items instead.',
  ITEM_NOT_FOUND: 'Check the item IDs, or allow unknown items to be left out.',
  ROUTE_NOT_FOUND: 'It may have been removed: recorded recalls are kept for a limited time.',
  STORE_UNAVAILABLE: 'Set inspection.path and start again; the log of the start says what failed.',
  DEADLINE_EXCEEDED: 'Ask for less: narrower beams, fewer items, a shorter span of time.',
  ENGINE_OVERLOADED: 'The engine is busy. Try again in a moment.',
  ENGINE_UNAVAILABLE: 'The service is starting or draining. Try again in a moment.',
  MODEL_NOT_FOUND: 'Set relevance.path to the folder of a model that scores texts and start again.',
  NODE_UNAVAILABLE: 'See the view Cluster for the nodes that are away, then try again.',
  CATALOGUE_NOT_FOUND: 'The version is no longer kept: what is stored is still shown.',
  PERMISSION_DENIED: 'Ask whoever runs the service for a role that may do this.',
  UNAUTHENTICATED: 'Log in again, with a token that is valid.',
  TOO_MANY_ATTEMPTS: 'Wait for as long as it says, then try again.',
  ISSUER_UNAVAILABLE: 'Log in with a token, or try again in a moment.',
};

/** The error, and its remedy. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const known = error instanceof ApiError ? error : undefined;
  const advice = known && ADVICE[known.code];
  return (
    <Alert color="red" variant="light" title="That did not work" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error instanceof Error ? error.message : String(error)}</Text>
        {advice !== undefined && <Text size="sm">{advice}</Text>}
        {known !== undefined && <Code>{known.code}</Code>}
        {retry !== undefined && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Nothing is here yet, and how to change that. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="xl" ta="center">
      <Text fw={600} mb="xs">
        {title}
      </Text>
      <Text c="dimmed" component="div">
        {children}
      </Text>
    </Paper>
  );
}

/** Which nodes' recalls a list is without, and why. */
export function UnreachedNodes({ unreached }: { unreached: readonly Unreached[] }) {
  return (
    <Alert color="orange" variant="light" title="The recalls of these are missing" role="status">
      {unreached.map(({ node, reason }) => (
        <Text key={node} size="sm">
          {node}, {reason}
        </Text>
      ))}
    </Alert>
  );
}

/** In place of what is on its way, of about its size. */
export function Waiting({ rows = 6 }: { rows?: number }) {
  const keys = Array.from({ length: rows }, (_, key) => key);
  return (
    <Stack gap="xs" role="status" aria-busy="true" aria-label="Loading">
      {keys.map((key) => (
        <Skeleton key={key} height={28} />
      ))}
    </Stack>
  );
}
