import {
  Autocomplete,
  Button,
  Group,
  Paper,
  SegmentedControl,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import type { TriedRecall } from '../../../src/api-types.js';
import { post } from '../api.js';
import {
  DEFAULT_SETTINGS,
  type Settings,
  SettingsFields,
  settingsBody,
} from '../parts/settings.js';
import { Failure, PageTitle } from '../parts/states.js';
import { useAsked } from '../parts/use-asked.js';

interface Wish {
  readonly source: 'user' | 'history';
  readonly userId: string;
  readonly history: string;
  readonly scene: string;
  readonly settings: Settings;
}

/** `key=value` pairs with commas between. */
function pairs(text: string): Record<string, string> {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [key = '', ...value] = part.split('=');
      return [key.trim(), value.join('=').trim()];
    }),
  );
}

function bodyOf({ source, userId, history, scene, settings }: Wish) {
  const items = history.split(/[\s,]+/).filter((item) => item !== '');
  const of = source === 'user' ? { userId } : { history: items };
  return { ...of, scene: pairs(scene), ...settingsBody(settings) };
}

function Whom({ wish, set }: { wish: Wish; set: (changes: Partial<Wish>) => void }) {
  const users = useAsked<{ userIds: string[] }>('users?limit=200');
  return (
    <>
      <SegmentedControl
        aria-label="Recall for"
        value={wish.source}
        onChange={(source) => set({ source: source as Wish['source'] })}
        data={[
          { value: 'user', label: 'A user' },
          { value: 'history', label: 'A history that I write' },
        ]}
      />
      {wish.source === 'user' ? (
        <Autocomplete
          label="User"
          description="Any user that the service knows; some are suggested"
          required
          data={users.data?.userIds ?? []}
          limit={20}
          value={wish.userId}
          onChange={(userId) => set({ userId })}
        />
      ) : (
        <Textarea
          label="History"
          description="Item IDs, oldest first, with spaces or commas between"
          required
          autosize
          minRows={2}
          value={wish.history}
          onChange={(event) => set({ history: event.currentTarget.value })}
        />
      )}
      <TextInput
        label="Scene"
        description="key=value, with commas between; only what the prompt template shows counts"
        value={wish.scene}
        onChange={(event) => set({ scene: event.currentTarget.value })}
      />
    </>
  );
}

export function View() {
  const [query] = useSearchParams();
  const [wish, setWish] = useState<Wish>({
    source: 'user',
    userId: query.get('user') ?? '1',
    history: '',
    scene: '',
    settings: { ...DEFAULT_SETTINGS, adapter: query.get('adapter') ?? '' },
  });
  const set = (changes: Partial<Wish>) => setWish({ ...wish, ...changes });
  const navigate = useNavigate();
  const trial = useMutation({
    mutationFn: async () => post<TriedRecall>('recalls', bodyOf(wish)),
    onSuccess: ({ id }) => navigate(`/recalls/${id}`),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    trial.mutate();
  };
  return (
    <>
      <PageTitle title="Try a recall">
        The answer is recorded with the tree of its search, so that you can look into it.
      </PageTitle>
      <Paper withBorder p="md" maw={900} component="form" onSubmit={submit}>
        <Stack>
          <Whom wish={wish} set={set} />
          <SettingsFields
            label="Settings"
            value={wish.settings}
            onChange={(settings) => set({ settings })}
          />
          {trial.error !== null && <Failure error={trial.error} />}
          <Group>
            <Button type="submit" loading={trial.isPending}>
              Recall
            </Button>
          </Group>
        </Stack>
      </Paper>
    </>
  );
}
