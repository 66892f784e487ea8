import { Alert, Stack, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AnalysisAbout, Mark } from '../../../src/api-types.js';
import { formatCount, formatTime } from '../ui/format.js';
import { PageTitle } from '../ui/section.js';
import { Empty, Failure, Waiting } from '../ui/states.js';
import { useAsked } from '../ui/use-asked.js';
import { FilterBar } from './filter-bar.js';

/** Frame of a view: title, filter bar, and whether there is anything to analyse. */
export function AnalysisPage({
  title,
  help,
  children,
}: {
  title: string;
  help: ReactNode;
  children: ReactNode;
}) {
  const about = useAsked<AnalysisAbout>('analysis/about');
  const { isKept = true, fault = '', lost = [] } = about.data ?? {};
  return (
    <>
      <PageTitle title={title}>{help}</PageTitle>
      <Stack>
        <FilterBar />
        {fault !== '' && (
          <Alert color="orange" variant="light" title="No facts are written now" role="status">
            {fault}
          </Alert>
        )}
        {lost.length > 0 && (
          <Alert color="orange" variant="light" title="Some facts are missing" role="status">
            {lost.map(({ table, rows, sinceMs }) => (
              <Text key={table} size="sm">
                {formatCount(rows)} rows of {table || 'tables that are not known'} were lost, the
                first at {formatTime(sinceMs)}.
              </Text>
            ))}
          </Alert>
        )}
        {isKept ? (
          children
        ) : (
          <Empty title="No facts are kept here">
            Set inspection.path to a folder and start again: every recall from then on is kept.
          </Empty>
        )}
      </Stack>
    </>
  );
}

/** An answer, or in its place that it is on its way, or why there is none. */
export function Answered<Answer>({
  asked,
  children,
}: {
  asked: UseQueryResult<Answer>;
  children: (answer: Answer) => ReactNode;
}) {
  if (asked.error !== null) return <Failure error={asked.error} retry={() => asked.refetch()} />;
  if (asked.data === undefined) return <Waiting />;
  return children(asked.data);
}

export const markText = ({ timeMs, text }: Mark) => `${formatTime(timeMs)}: ${text}`;
