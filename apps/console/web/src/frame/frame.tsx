import {
  ActionIcon,
  Anchor,
  AppShell,
  Burger,
  Button,
  Group,
  NavLink,
  ScrollArea,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { Link, Outlet, NavLink as RouterLink } from 'react-router';
import type { About, LoginState } from '../../../src/api-types.js';
import { remove } from '../api.js';
import { LoginView } from '../login/login.js';
import { shortDigest } from '../ui/format.js';
import { Mark } from '../ui/mark.js';
import { Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { useLogin, useVisitorChange } from '../ui/visitor.js';
import { VIEWS } from './views.js';

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
      <Text size="xs" title={model.digest} visibleFrom="lg">
        {model.family} {shortDigest(model.digest)}
      </Text>
      <Text size="xs" visibleFrom="sm">
        catalogue change {catalogue.sequence}
      </Text>
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
    <Group gap="xs" wrap="nowrap" miw={0}>
      <Text size="xs" truncate maw={{ base: 70, sm: 240 }}>
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

/** The pages by group; `onGo` closes what covers a narrow screen. */
function Navigation({ onGo }: { onGo: () => void }) {
  return (
    <AppShell.Navbar p="xs" aria-label="Views">
      <ScrollArea type="auto">
        {VIEWS.map(({ group, views }) => (
          <div key={group}>
            <Text size="xs" c="dimmed" fw={600} mt="sm" px="sm">
              {group}
            </Text>
            {views.map(([to, label]) => (
              <RouterLink key={to} to={to} end={to === '/'} className="view" onClick={onGo}>
                {({ isActive }) => <NavLink component="span" label={label} active={isActive} />}
              </RouterLink>
            ))}
          </div>
        ))}
      </ScrollArea>
    </AppShell.Navbar>
  );
}

const MAIN = 'main';

/** The first stop of the keyboard: past header and navigation. What is behind a # is the page. */
function SkipLink() {
  return (
    <a
      className="skip"
      href={`#${MAIN}`}
      onClick={(event) => {
        event.preventDefault();
        document.getElementById(MAIN)?.focus();
      }}
    >
      Skip to the page
    </a>
  );
}

/** Header and navigation around every page, and a login where one is needed. */
export function Frame() {
  const login = useLogin();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  if (login.data === undefined) {
    if (login.error === null) return <Waiting />;
    return <Failure error={login.error} retry={() => login.refetch()} />;
  }
  const { visitor, ways } = login.data;
  if (visitor === null && ways !== null) return <LoginView ways={ways} />;
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 180, breakpoint: 'md', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <SkipLink />
      <AppShell.Header px={{ base: 'sm', sm: 'lg' }}>
        <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
          <Group wrap="nowrap" gap="xs">
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="md"
              size="sm"
              aria-label={isOpen ? 'Close the navigation' : 'Open the navigation'}
            />
            <Anchor component={Link} to="/" fw={700} c="inherit" underline="never">
              Tessera
            </Anchor>
          </Group>
          <Group wrap="nowrap" gap="xs" miw={0}>
            <Served />
            <Who login={login.data} />
            <SchemeSwitch />
          </Group>
        </Group>
      </AppShell.Header>
      <Navigation onGo={close} />
      <AppShell.Main id={MAIN} tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
