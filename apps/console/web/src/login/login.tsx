import { Button, Center, Divider, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation, useSearchParams } from 'react-router';
import type { LoginState, OidcBegun } from '../../../src/api-types.js';
import { post } from '../api.js';
import { ADVICE, Failure } from '../ui/states.js';
import { useVisitorChange } from '../ui/visitor.js';

const REFUSED: Readonly<Record<string, string>> = {
  PERMISSION_DENIED: 'The provider knows you, but you have no role here.',
  UNAUTHENTICATED: 'The login was given up, or took too long.',
};

/** Why the provider has sent somebody back who is not logged in. */
function Refused({ code }: { code: string }) {
  return (
    <Text size="sm" c="red" role="alert">
      {REFUSED[code] ?? 'The login failed.'} {ADVICE[code] ?? 'Try again.'} ({code})
    </Text>
  );
}

function TokenForm() {
  const [token, setToken] = useState('');
  const entered = useVisitorChange();
  const enter = useMutation({
    mutationFn: () => post<LoginState>('login', { token: token.trim() }),
    onSuccess: entered,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    enter.mutate();
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <PasswordInput
        label="Token"
        description="Whoever runs the service gives you one, with the role that you need."
        autoComplete="current-password"
        required
        value={token}
        onChange={(event) => setToken(event.currentTarget.value)}
      />
      {enter.error !== null && <Failure error={enter.error} />}
      <Button type="submit" loading={enter.isPending} disabled={token.trim() === ''}>
        Log in
      </Button>
    </Stack>
  );
}

function ProviderButton() {
  const { pathname, search } = useLocation();
  const begin = useMutation({
    mutationFn: () => post<OidcBegun>('login/oidc', { returnTo: pathname + search }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <>
      <Button variant="default" loading={begin.isPending} onClick={() => begin.mutate()}>
        Log in with your organisation
      </Button>
      {begin.error !== null && <Failure error={begin.error} />}
    </>
  );
}

/** In place of every page, for somebody who has to log in first. */
export function LoginView({ ways }: { ways: NonNullable<LoginState['ways']> }) {
  const [query] = useSearchParams();
  const refused = query.get('refused');
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w={420}>
        <Stack>
          <Title order={1} size="h2">
            Tessera
          </Title>
          {refused !== null && <Refused code={refused} />}
          {ways.token && <TokenForm />}
          {ways.token && ways.oidc && <Divider label="or" />}
          {ways.oidc && <ProviderButton />}
          {!ways.token && !ways.oidc && (
            <Text size="sm">
              Others than this machine can reach the service, and no way to log in is set. Set
              access.tokensPath or oidc.issuer, and start again.
            </Text>
          )}
        </Stack>
      </Paper>
    </Center>
  );
}
