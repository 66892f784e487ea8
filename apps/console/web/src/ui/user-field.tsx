import { Autocomplete } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { get, withQuery } from '../api.js';

const TYPING_MS = 200;
const SUGGESTED = '20';

/** Any user; those whose ID begins with what is typed are suggested. */
export function UserField({
  value,
  onChange,
  label = 'User',
  description,
  required = false,
}: {
  value: string;
  onChange: (userId: string) => void;
  label?: string;
  description?: string;
  required?: boolean;
}) {
  const [prefix] = useDebouncedValue(value, TYPING_MS);
  const found = useQuery({
    queryKey: ['users', prefix],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      get<{ userIds: string[] }>(withQuery('users', { prefix, limit: SUGGESTED }), signal),
  });
  return (
    <Autocomplete
      label={label}
      description={description}
      required={required}
      data={[...new Set(found.data?.userIds ?? [])]}
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
    />
  );
}
