import {
  ActionIcon,
  AppShell,
  Group,
  NavLink,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { createHashRouter, Outlet, NavLink as RouterLink, useRouteError } from 'react-router';
import type { About } from '../../src/api-types.js';
import { shortDigest } from './parts/format.js';
import { Mark } from './parts/mark.js';
import { Failure, Waiting } from './parts/states.js';
import { useAsked } from './parts/use-asked.js';

const VIEWS = [
  ['/try', 'Try'],
  ['/recalls', 'Recalls'],
  ['/compare', 'Compare'],
  ['/live', 'Live'],
  ['/users', 'Users'],
  ['/catalogue', 'Catalogue'],
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
  const { model, catalogue, visitor, state } = data;
  return (
    <Group gap="xs" wrap="nowrap">
      <Mark color={state === 'ready' ? 'teal' : 'orange'}>{state}</Mark>
      <Text size="xs" title={model.digest}>
        {model.family} {shortDigest(model.digest)}
      </Text>
      <Text size="xs">catalogue change {catalogue.sequence}</Text>
      <Text size="xs">
        {visitor.name} ({visitor.role})
      </Text>
    </Group>
  );
}

function Frame() {
  return (
    <AppShell header={{ height: 48 }} navbar={{ width: 150, breakpoint: 0 }} padding="md">
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Text fw={700}>Tessera</Text>
          <Group wrap="nowrap">
            <Served />
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
      { ...view('/', () => import('./views/try.js')) },
      view('/try', () => import('./views/try.js')),
      view('/recalls', () => import('./views/recalls.js')),
      view('/recalls/:id', () => import('./views/recall.js')),
      view('/compare', () => import('./views/compare.js')),
      view('/compare/:id', () => import('./views/comparison.js')),
      view('/live', () => import('./views/live.js')),
      view('/users', () => import('./views/users.js')),
      view('/users/:id', () => import('./views/users.js')),
      view('/catalogue', () => import('./views/catalogue.js')),
      view('/sql', () => import('./views/sql.js')),
    ],
  },
]);
