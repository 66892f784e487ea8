import { Button, Group, Modal, Progress, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Failure } from './states.js';
import { useLogin } from './visitor.js';

/** Seconds since it began; for what has no measure of its own. */
function UnderWay({ children }: { children: ReactNode }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Stack gap={4}>
      <Progress value={100} animated aria-label={`under way for ${seconds} seconds`} />
      <Text size="sm">
        {seconds} s: {children}
      </Text>
    </Stack>
  );
}

/** A question before something is done; what it says no to stays open with the reason. */
export function Confirmed<Result>({
  opened = true,
  title,
  doing,
  act,
  done,
  close,
  word,
  color,
  children,
}: {
  opened?: boolean;
  title: string;
  /** For an act that takes a while. */
  doing?: string;
  act: () => Promise<Result>;
  /** Left out: everything shown is asked for again. */
  done?: (result: Result) => unknown;
  close: () => void;
  word: string;
  color?: string;
  children: ReactNode;
}) {
  const queries = useQueryClient();
  const action = useMutation({
    mutationFn: act,
    onSuccess: async (result) => {
      await (done === undefined ? queries.invalidateQueries() : done(result));
      close();
    },
  });
  return (
    <Modal opened={opened} onClose={close} title={title}>
      <Stack>
        {children}
        {action.isPending && doing !== undefined && <UnderWay>{doing}</UnderWay>}
        <Group>
          <Button
            {...(color !== undefined && { color })}
            loading={action.isPending}
            onClick={() => action.mutate()}
          >
            {word}
          </Button>
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
        </Group>
        {action.error !== null && <Failure error={action.error} />}
      </Stack>
    </Modal>
  );
}

/** True if the visitor may remove work of an author. */
function useMayRemove(author: string): boolean {
  const visitor = useLogin().data?.visitor;
  return visitor?.role === 'admin' || visitor?.name === author;
}

/** A button of something that cannot be undone: it asks first. */
export function RemoveButton({
  what,
  author,
  act,
  children,
}: {
  /** Name of the thing, in the question and on the button. */
  what: string;
  author: string;
  act: () => Promise<unknown>;
  children: ReactNode;
}) {
  const [isAsked, setIsAsked] = useState(false);
  const mayRemove = useMayRemove(author);
  if (!mayRemove) return null;
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Remove ${what}`}
        onClick={() => setIsAsked(true)}
      >
        Remove
      </Button>
      <Confirmed
        opened={isAsked}
        title={`Remove ${what}?`}
        word="Remove it"
        color="red"
        act={act}
        done={() => undefined}
        close={() => setIsAsked(false)}
      >
        {children}
      </Confirmed>
    </>
  );
}
