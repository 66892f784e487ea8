import { Alert, Progress, Stack, Text } from '@mantine/core';
import { Figure, Figures } from '../ui/figure.js';
import { formatCount, formatShare } from '../ui/format.js';
import { Histogram } from '../ui/histogram.js';
import { Section } from '../ui/section.js';
import { AttributeBars } from './attribute-bars.js';
import { ComparedUsers } from './compared-users.js';
import { overlapBins, type Run } from './run.js';

const FAILURES_SHOWN = 5;

function Failures({ failures, isAll }: { failures: readonly string[]; isAll: boolean }) {
  const title = isAll
    ? `All ${formatCount(failures.length)} users failed: there is nothing to compare`
    : `${formatCount(failures.length)} users failed and are left out`;
  return (
    <Alert color={isAll ? 'red' : 'orange'} variant="light" title={title} role="alert">
      {failures.slice(0, FAILURES_SHOWN).map((failure) => (
        <Text key={failure} size="sm">
          {failure}
        </Text>
      ))}
      {isAll && (
        <Text size="sm">
          Nothing is saved. An adapter that does not serve can be asked for once it is pinned (page
          Adapters).
        </Text>
      )}
    </Alert>
  );
}

function Summary({ summary }: { summary: NonNullable<Run['summary']> }) {
  const { users, overlap, rankShift, gained, lost, failed } = summary;
  return (
    <Figures>
      <Figure label="Overlap, mean of the users" value={formatShare(overlap)} />
      <Figure label="Users" value={formatCount(users)} note={failed > 0 && `${failed} failed`} />
      <Figure label="Shift of shared items" value={rankShift.toFixed(2)} note="ranks" />
      <Figure label="Gained" value={formatCount(gained)} note="items" />
      <Figure label="Lost" value={formatCount(lost)} note="items" />
    </Figures>
  );
}

/** Findings of a comparison, also while it runs: what all users have in common comes first. */
export function ComparisonResult({ run }: { run: Run }) {
  const { summary, users, failures } = run;
  const bins = overlapBins(users).map((count, bin) => ({ name: `${bin * 10} %`, count }));
  return (
    <Stack>
      {run.total > 0 && summary === undefined && (
        <Progress
          value={(run.done / run.total) * 100}
          aria-label={`${run.done} of ${run.total} users`}
        />
      )}
      {summary !== undefined && summary.users > 0 && <Summary summary={summary} />}
      {failures.length > 0 && (
        <Failures failures={failures} isAll={summary !== undefined && summary.users === 0} />
      )}
      {summary !== undefined && summary.users > 0 && (
        <Section title="Items by attribute">
          <AttributeBars attributes={summary.attributes} />
        </Section>
      )}
      {users.length > 0 && (
        <>
          <Section title="Users by overlap" help="From nothing in common to the same items.">
            <Histogram label="Users by overlap" bins={bins} unit="users" />
          </Section>
          <Section title="User by user" help="Most different first.">
            <ComparedUsers users={users} />
          </Section>
        </>
      )}
    </Stack>
  );
}
