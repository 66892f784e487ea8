import type { UseQueryResult } from '@tanstack/react-query';
import { PageTitle } from './section.js';
import { Failure, Waiting } from './states.js';

/** In place of a page whose answer is on its way, or does not come. */
export function Unanswered<Answer>({
  title,
  asked,
}: {
  title: string;
  asked: UseQueryResult<Answer>;
}) {
  return (
    <>
      <PageTitle title={title} />
      {asked.error === null ? (
        <Waiting rows={12} />
      ) : (
        <Failure error={asked.error} retry={() => asked.refetch()} />
      )}
    </>
  );
}
