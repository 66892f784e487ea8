import { Button, Group, Select, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import { useSearchParams } from 'react-router';
import { ZONE } from '../ui/format.js';

/** Filters of the address that the API has under the same names. */
const TEXTS = [
  ['userId', 'User', ''],
  ['itemId', 'Returned item', ''],
  ['scene', 'Scene', 'daypart=noon'],
  ['adapter', 'Adapter', 'name, digest or base'],
  ['change', 'Catalogue change', ''],
  ['requestId', 'Request ID', ''],
  ['code', 'Code', 'OK'],
] as const;
const TIMES = [
  ['from', 'From'],
  ['before', 'Before'],
] as const;
const MILLISECONDS = [
  ['minMs', 'Took at least, ms'],
  ['maxMs', 'Took at most, ms'],
] as const;
const ORDERS = [
  { value: 'time', label: 'newest first' },
  { value: 'slowest', label: 'slowest first' },
  { value: 'fastest', label: 'fastest first' },
];

const US_PER_MS = 1000;
export const PAGE = 50;

/** Milliseconds since 1970 of a time in an address: a number, or as the field writes it. */
function timeOf(text: string | null): string | undefined {
  if (text === null || text === '') return undefined;
  const time = /^\d+$/.test(text) ? Number(text) : new Date(text).getTime();
  return Number.isNaN(time) ? undefined : String(time);
}

/** The query of the API that an address of the page comes to. */
export function apiQuery(query: URLSearchParams): Record<string, string | undefined> {
  const texts = TEXTS.map(([name]) => [name, query.get(name) ?? undefined]);
  const us = (name: string) => {
    const value = Number(query.get(name) ?? '');
    return value > 0 ? String(Math.round(value * US_PER_MS)) : undefined;
  };
  const order = query.get('order') ?? 'time';
  return Object.assign(Object.fromEntries(texts), {
    set: query.get('set') ?? undefined,
    fromMs: timeOf(query.get('from')),
    beforeMs: timeOf(query.get('before')),
    minUs: us('minMs'),
    maxUs: us('maxMs'),
    order: order === 'time' ? undefined : order,
    offset: query.get('offset') ?? undefined,
    limit: String(PAGE),
  });
}

/** The time of an address as its field shows it, in the reader's zone. */
function localTime(text: string | null): string {
  const time = timeOf(text);
  if (time === undefined) return '';
  const date = new Date(Number(time));
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Fields of texts, bounds and times. */
function Fields({ query }: { query: URLSearchParams }) {
  return (
    <>
      {TEXTS.map(([name, label, placeholder]) => (
        <TextInput
          key={name}
          name={name}
          label={label}
          size="xs"
          placeholder={placeholder}
          defaultValue={query.get(name) ?? ''}
        />
      ))}
      {MILLISECONDS.map(([name, label]) => (
        <TextInput
          key={name}
          name={name}
          label={label}
          size="xs"
          inputMode="numeric"
          pattern="[0-9.]*"
          defaultValue={query.get(name) ?? ''}
        />
      ))}
      {TIMES.map(([name, label]) => (
        <TextInput
          key={name}
          name={name}
          label={`${label} (${ZONE})`}
          type="datetime-local"
          step={1}
          size="xs"
          defaultValue={localTime(query.get(name))}
        />
      ))}
    </>
  );
}

/** Fields that become the address of the list. */
export function RecallFilters() {
  const [query, setQuery] = useSearchParams();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = [...new FormData(event.currentTarget)].filter(
      ([name, value]) => value !== '' && !(name === 'order' && value === 'time'),
    );
    setQuery(Object.fromEntries(given) as Record<string, string>);
  };
  return (
    <form onSubmit={submit} key={query.toString()}>
      <Group align="flex-end" gap="xs" className="filters">
        <Fields query={query} />
        <Select
          name="order"
          label="Order"
          size="xs"
          allowDeselect={false}
          data={ORDERS}
          defaultValue={query.get('order') ?? 'time'}
        />
        <Button type="submit" size="xs">
          Find
        </Button>
        {query.size > 0 && (
          <Button size="xs" variant="default" onClick={() => setQuery({})}>
            Show all
          </Button>
        )}
      </Group>
    </form>
  );
}
