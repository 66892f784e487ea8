import { useRef, useState } from 'react';
import type { ExportJob } from '../../../src/api-types.js';
import { ApiError, get, pathOf, post, remove } from '../api.js';
import { download } from '../ui/save.js';

const LOOK_MS = 400;

const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Writes an answer to a file in the service, then fetches it; one at a time. */
export function useExport() {
  const [job, setJob] = useState<ExportJob | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const stopped = useRef(false);
  const start = async (sql: string, format: ExportJob['format']) => {
    stopped.current = false;
    setError(undefined);
    try {
      let now = await post<ExportJob>('exports', { sql, format });
      setJob(now);
      while (now.state === 'running') {
        await later(LOOK_MS);
        if (stopped.current) {
          await remove(`exports/${now.id}`);
          return;
        }
        now = await get<ExportJob>(`exports/${now.id}`);
        setJob(now);
      }
      if (now.state === 'failed') throw new ApiError(0, 'EXPORT_FAILED', now.message, undefined);
      download(pathOf(`exports/${now.id}/file`), `tessera.${format}`);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setJob(undefined);
    }
  };
  const stop = () => {
    stopped.current = true;
  };
  return { job, error, start, stop };
}
