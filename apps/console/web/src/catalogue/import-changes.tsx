import { Alert, Button, FileInput, Group, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { formatCount, formatShare } from '../ui/format.js';
import { Failure } from '../ui/states.js';
import { RoleButton } from '../ui/visitor.js';
import { type ImportProgress, useImport } from './use-import.js';

function Reading({ progress }: { progress: ImportProgress }) {
  const lines = formatCount(progress.lineCount);
  return (
    <>
      <Progress value={progress.share * 100} aria-label="Import" />
      <Text size="sm" aria-live="polite">
        {progress.isApplying
          ? `Applying ${lines} lines at once …`
          : `${formatShare(progress.share)} read, ${lines} lines`}
      </Text>
    </>
  );
}

/** A file of changes put into the catalogue, all of it or none. */
export function ImportChanges() {
  const [file, setFile] = useState<File | null>(null);
  const { progress, error, imported, start, stop } = useImport();
  const send = async () => {
    if (file === null) return;
    await start(file);
    // A file that is mended and chosen again would otherwise be the one that was read before.
    setFile(null);
  };
  return (
    <Stack gap="xs">
      <Group align="flex-end">
        <FileInput
          label="File of changes"
          description={
            'JSON lines: {"op": "pause", "item_id": "75"}, or items as {"item_id", "sid", ' +
            '"title", "attributes", "priority"}'
          }
          placeholder="Choose a file"
          clearable
          flex={1}
          disabled={progress !== undefined}
          value={file}
          onChange={setFile}
        />
        {progress === undefined || progress.isApplying ? (
          <RoleButton
            needs="admin"
            disabled={file === null}
            loading={progress !== undefined}
            onClick={send}
          >
            Import
          </RoleButton>
        ) : (
          <Button variant="default" onClick={stop}>
            Cancel
          </Button>
        )}
      </Group>
      {progress !== undefined && <Reading progress={progress} />}
      {error !== undefined && (
        <>
          <Failure error={error} />
          <Text size="sm">Nothing of the file was applied.</Text>
        </>
      )}
      {imported !== undefined && (
        <Alert color="teal" variant="light" title="Imported">
          {formatCount(imported.changeCount)} changes; the newest is number{' '}
          {formatCount(imported.sequence)}. Recalls see them from now on.
        </Alert>
      )}
    </Stack>
  );
}
