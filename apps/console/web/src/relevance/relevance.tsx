import {
  Button,
  Group,
  NumberInput,
  Paper,
  SegmentedControl,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { RelevancePage } from '../../../src/api-types.js';
import { post } from '../api.js';
import { PageTitle } from '../ui/section.js';
import { Failure } from '../ui/states.js';
import { Scores } from './scores.js';

interface RelevanceForm {
  readonly query: string;
  readonly instruction: string;
  readonly source: 'texts' | 'items';
  /** Texts, one a line. */
  readonly texts: string;
  /** IDs with spaces or commas between. */
  readonly items: string;
  /** Adapter of the scoring model; '' for none. */
  readonly adapter: string;
  /** Milliseconds; '' for the configured time. */
  readonly deadlineMs: string;
}

/** The body of `POST /v1/rerank`. */
function bodyOf(form: RelevanceForm) {
  const { query, instruction, source, texts, items, adapter, deadlineMs } = form;
  const lines = texts.split('\n').filter((line) => line.trim() !== '');
  const itemIds = items.split(/[\s,]+/).filter((itemId) => itemId !== '');
  return {
    query,
    documents: source === 'texts' ? lines : itemIds.map((itemId) => ({ itemId })),
    // Behind those who are waited for.
    priority: 'low',
    ...(instruction.trim() !== '' && { instruction }),
    ...(adapter.trim() !== '' && { adapter: adapter.trim() }),
    ...(deadlineMs !== '' && { deadline_ms: Number(deadlineMs) }),
  };
}

interface FieldsProps {
  readonly form: RelevanceForm;
  readonly set: (changes: Partial<RelevanceForm>) => void;
}

function Documents({ form, set }: FieldsProps) {
  return (
    <>
      <SegmentedControl
        aria-label="Kind of texts"
        value={form.source}
        onChange={(source) => set({ source: source as RelevanceForm['source'] })}
        data={[
          { value: 'texts', label: 'Texts that I paste' },
          { value: 'items', label: 'Items of the catalogue' },
        ]}
      />
      {form.source === 'texts' ? (
        <Textarea
          label="Texts"
          description="One a line"
          required
          autosize
          minRows={4}
          maxRows={16}
          value={form.texts}
          onChange={(event) => set({ texts: event.currentTarget.value })}
        />
      ) : (
        <Textarea
          label="Items"
          description="IDs with spaces or commas between; the template makes their texts"
          required
          autosize
          minRows={2}
          maxRows={16}
          value={form.items}
          onChange={(event) => set({ items: event.currentTarget.value })}
        />
      )}
    </>
  );
}

function Question({ form, set }: FieldsProps) {
  return (
    <>
      <TextInput
        label="Query"
        required
        value={form.query}
        onChange={(event) => set({ query: event.currentTarget.value })}
      />
      <Group grow align="flex-start">
        <TextInput
          label="Instruction"
          description="what is to be judged; empty: as the template says"
          value={form.instruction}
          onChange={(event) => set({ instruction: event.currentTarget.value })}
        />
        <TextInput
          label="Adapter"
          description="of the scoring model, by name; empty: none"
          value={form.adapter}
          onChange={(event) => set({ adapter: event.currentTarget.value })}
        />
        <NumberInput
          label="Time, ms"
          description="empty: as configured"
          min={1}
          value={form.deadlineMs}
          onChange={(deadlineMs) => set({ deadlineMs: String(deadlineMs) })}
        />
      </Group>
    </>
  );
}

export function View() {
  const [query] = useSearchParams();
  const items = query.get('items') ?? '';
  const [form, setForm] = useState<RelevanceForm>({
    query: '',
    instruction: '',
    source: items === '' ? 'texts' : 'items',
    texts: '',
    items,
    adapter: '',
    deadlineMs: '',
  });
  const set = (changes: Partial<RelevanceForm>) => setForm({ ...form, ...changes });
  const asked = useMutation({
    mutationFn: () => post<RelevancePage>('relevance', bodyOf(form)),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    asked.mutate();
  };
  return (
    <>
      <PageTitle title="Relevance">
        How well texts fit a query, by the model that judges them. Nothing is recorded.
      </PageTitle>
      <Stack>
        <Paper withBorder p="md" maw={900} component="form" onSubmit={submit}>
          <Stack>
            <Question form={form} set={set} />
            <Documents form={form} set={set} />
            {asked.error !== null && <Failure error={asked.error} />}
            <Group>
              <Button type="submit" loading={asked.isPending}>
                Score
              </Button>
            </Group>
          </Stack>
        </Paper>
        {asked.data !== undefined && <Scores page={asked.data} />}
      </Stack>
    </>
  );
}
