import { Button, type ButtonProps, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import type { LoginState, Visitor } from '../../../src/api-types.js';
import { useAsked } from './use-asked.js';

/** Each may do what those before it may. */
const ROLES: readonly Visitor['role'][] = ['read', 'operate', 'admin'];

/** The visitor, and the ways to log in. */
export const useLogin = () => useAsked<LoginState>('login');

/** Takes in who looks now: what was asked before was for somebody else. */
export function useVisitorChange(): (state: LoginState) => void {
  const queries = useQueryClient();
  return (state) => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'login' });
    queries.setQueryData(['login'], state);
  };
}

/** Why the visitor may not do what takes a role; undefined: the visitor may. */
export function useRefusal(role: Visitor['role']): string | undefined {
  const visitor = useLogin().data?.visitor;
  const mine = visitor?.role;
  if (mine !== undefined && ROLES.indexOf(mine) >= ROLES.indexOf(role)) return undefined;
  return `Needs the role ${role}; you have ${mine ?? 'none'}.`;
}

/** A button of something that takes a role: who has it not reads why. */
export function RoleButton({
  needs,
  children,
  disabled = false,
  ...rest
}: ButtonProps & { needs: Visitor['role']; onClick: () => void; children: ReactNode }) {
  const reason = useRefusal(needs);
  const id = useId();
  if (reason === undefined) {
    return (
      <Button {...rest} disabled={disabled}>
        {children}
      </Button>
    );
  }
  return (
    <Stack gap={2}>
      <Button {...rest} disabled aria-describedby={id}>
        {children}
      </Button>
      <Text id={id} size="xs" c="dimmed">
        {reason}
      </Text>
    </Stack>
  );
}
