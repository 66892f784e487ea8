import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Failure } from './states.js';
import { useLogin } from './visitor.js';

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
  const removal = useMutation({ mutationFn: act, onSuccess: () => setIsAsked(false) });
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
      <Modal opened={isAsked} onClose={() => setIsAsked(false)} title={`Remove ${what}?`}>
        <Stack>
          {children}
          <Group>
            <Button color="red" loading={removal.isPending} onClick={() => removal.mutate()}>
              Remove it
            </Button>
            <Button variant="default" onClick={() => setIsAsked(false)}>
              Keep
            </Button>
          </Group>
          {removal.error !== null && <Failure error={removal.error} />}
        </Stack>
      </Modal>
    </>
  );
}
