import '@mantine/core/styles.css';
import './style.css';
import { type CSSVariablesResolver, createTheme, MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { RouterProvider } from 'react-router/dom';
import { ApiError } from './api.js';
import { router } from './app.js';

const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: 9,
  respectReducedMotion: true,
  fontFamily: 'system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif',
  defaultRadius: 'sm',
  components: {
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    // The header of a dialogue is not that of the page.
    ModalHeader: { defaultProps: { role: 'none' } },
  },
});

/** Faint text that can still be read by those who see less. */
const readable: CSSVariablesResolver = () => {
  const hover = { '--mantine-primary-color-filled-hover': '#095c6b' };
  return {
    variables: {},
    light: {
      ...hover,
      '--mantine-color-teal-light-color': '#055c42',
      '--mantine-color-orange-light-color': '#8f3a00',
      '--mantine-color-red-light-color': '#a51d1d',
      '--mantine-color-dimmed': '#495057',
      '--mantine-color-placeholder': '#5c636a',
    },
    dark: {
      ...hover,
      '--mantine-color-dimmed': '#b8bcc2',
      '--mantine-color-placeholder': '#a0a5ab',
    },
  };
};

/** Tries of a page that the service is too busy for; it waits as long as it is told to. */
const RETRIES_MAX = 5;

const retryMsOf = (error: unknown) =>
  error instanceof ApiError && error.status === 429 ? error.retryAfterMs : undefined;

/** A visitor whose session has ended is asked to log in again. */
function onError(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) {
    void queries.invalidateQueries({ queryKey: ['login'] });
  }
}

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      retry: (count, error) => count < RETRIES_MAX && retryMsOf(error) !== undefined,
      retryDelay: (count, error) => (retryMsOf(error) ?? 0) * (1 + count),
    },
  },
});

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={readable} defaultColorScheme="auto">
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
