import {
  ActionIcon,
  AppShell,
  Button,
  Group,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { createHashRouter, Outlet, NavLink as RouterLink, useRouteError } from 'react-router';
import type { About, LoginState } from '../../src/api-types.js';
import { remove } from './api.js';
import { LoginView } from './login/login.js';
import { shortDigest } from './ui/format.js';
import { Mark } from './ui/mark.js';
import { Failure, Waiting } from './ui/states.js';
import { useAsked } from './ui/use-asked.js';
import { useLogin, useVisitorChange } from './ui/visitor.js';

const VIEWS = [
  ['/try', 'Try'],
  ['/recalls', 'Recalls'],
  ['/relevance', 'Relevance'],
  ['/compare', 'Compare'],
  ['/live', 'Live'],
  ['/users', 'Users'],
  ['/adapters', 'Adapters'],
  ['/catalogue', 'Catalogue'],
  ['/cluster', 'Cluster'],
  ['/sql', 'SQL'],
] as const;

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  return (
    <ActionIcon
      variant="default"
      aria-label={isDark ? 'Use light colours' : 'Use dark colours'}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      <span aria-hidden="true">{isDark ? '☀' : '☾'}</span>
    </ActionIcon>
  );
}

function Served() {
  const { data } = useAsked<About>('about', 10_000);
  if (data === undefined) return <Text size="xs">asking the service …</Text>;
  const { model, catalogue, state } = data;
  return (
    <Group gap="xs" wrap="nowrap">
      <Mark color={state === 'ready' ? 'teal' : 'orange'}>{state}</Mark>
      <Text size="xs" title={model.digest}>
        {model.family} {shortDigest(model.digest)}
      </Text>
      <Text size="xs">catalogue change {catalogue.sequence}</Text>
    </Group>
  );
}

/** The visitor, and the way out where somebody is logged in. */
function Who({ login }: { login: LoginState }) {
  const left = useVisitorChange();
  const leave = useMutation({
    mutationFn: () => remove<LoginState>('login'),
    onSuccess: left,
  });
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="xs" truncate maw={240}>
        {login.visitor?.name} ({login.visitor?.role})
      </Text>
      {login.ways !== null && (
        <Button
          size="compact-xs"
          variant="default"
          loading={leave.isPending}
          onClick={() => leave.mutate()}
        >
          Log out
        </Button>
      )}
    </Group>
  );
}

function Frame() {
  const login = useLogin();
  if (login.data === undefined) {
    if (login.error === null) return <Waiting />;
    return <Failure error={login.error} retry={() => login.refetch()} />;
  }
  const { visitor, ways } = login.data;
  if (visitor === null && ways !== null) return <LoginView ways={ways} />;
  return (
    <AppShell header={{ height: 48 }} navbar={{ width: 150, breakpoint: 0 }} padding="md">
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Text fw={700}>Tessera</Text>
          <Group wrap="nowrap">
            <Served />
            <Who login={login.data} />
            <SchemeSwitch />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Views">
        {VIEWS.map(([to, label]) => (
          <RouterLink key={to} to={to} style={{ textDecoration: 'none', color: 'inherit' }}>
            {({ isActive }) => <NavLink component="span" label={label} active={isActive} />}
          </RouterLink>
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

function Broken() {
  return <Failure error={useRouteError()} retry={() => window.location.reload()} />;
}

/** Each view is a file of its own, loaded when it is first shown. */
const view = (path: string, load: () => Promise<{ View: () => React.ReactNode }>) => ({
  path,
  lazy: async () => ({ Component: (await load()).View }),
  hydrateFallbackElement: <Waiting />,
});

/** Addresses behind a #: any page can be linked to, whatever serves the files. */
export const router = createHashRouter([
  {
    element: <Frame />,
    errorElement: <Broken />,
    hydrateFallbackElement: <Waiting />,
    children: [
      { ...view('/', () => import('./recall/try.js')) },
      view('/try', () => import('./recall/try.js')),
      view('/recalls', () => import('./recall/recalls.js')),
      view('/recalls/:id', () => import('./recall/recall.js')),
      view('/relevance', () => import('./relevance/relevance.js')),
      view('/compare', () => import('./compare/compare.js')),
      view('/compare/:id', () => import('./compare/comparison.js')),
      view('/live', () => import('./live/live.js')),
      view('/users', () => import('./users/users.js')),
      view('/users/:id', () => import('./users/users.js')),
      view('/adapters', () => import('./adapters/adapters.js')),
      view('/catalogue', () => import('./catalogue/catalogue.js')),
      view('/cluster', () => import('./cluster/cluster.js')),
      view('/sql', () => import('./sql/sql.js')),
    ],
  },
]);
