import { Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { isRouteErrorResponse, Link, useLocation, useRouteError } from 'react-router';
import { PageTitle } from '../ui/section.js';
import { Failure } from '../ui/states.js';

/** In place of a page that there is not. */
export function NotFound() {
  const { pathname } = useLocation();
  return (
    <>
      <PageTitle title="No such page" />
      <Stack align="flex-start">
        <Text>
          The console has no page at <Code>{pathname}</Code>. The address may be cut, or of another
          version.
        </Text>
        <Group>
          <Button component={Link} to="/">
            Overview
          </Button>
          <Anchor component={Link} to="/recalls">
            Recorded recalls
          </Anchor>
        </Group>
      </Stack>
    </>
  );
}

/** In place of a page that failed; the frame stays. */
export function Broken() {
  const error = useRouteError();
  if (isRouteErrorResponse(error) && error.status === 404) return <NotFound />;
  return (
    <>
      <PageTitle title="This page failed" />
      <Failure error={error} retry={() => window.location.reload()} />
    </>
  );
}
