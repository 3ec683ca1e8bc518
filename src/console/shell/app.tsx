import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Tenant } from '../api/answers.ts';
import { forgetKey, keepKey, keptKey, keyEvents, RequestError, request } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { followLinks, go, usePlace, viewParts } from '../parts/addresses.ts';
import { ErrorBox, Loading } from '../parts/notices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { TenantContext } from '../parts/tenant-context.ts';
import { Navigation, pages } from './navigation.tsx';

export function App() {
  const [key, setKey] = useState<'kept' | 'none' | 'refused'>(keptKey() === null ? 'none' : 'kept');
  const leave = (why: 'none' | 'refused') => {
    // The next user of this tab must not find the edits of another.
    if (why === 'none') sessionStorage.clear();
    else forgetKey();
    setKey(why);
  };
  // A layout effect, because the first request starts before the paint.
  useLayoutEffect(() => {
    const refuse = () => leave('refused');
    keyEvents.addEventListener('refused', refuse);
    return () => keyEvents.removeEventListener('refused', refuse);
  }, []);
  if (key === 'kept') return <Opened leave={leave} />;
  return <KeyForm isRefused={key === 'refused'} onKey={() => setKey('kept')} />;
}

function Opened({ leave }: { readonly leave: (why: 'none' | 'refused') => void }) {
  const place = usePlace();
  const { data: tenant, error, reload } = useGet<Tenant>('/tenant');
  const isRefused = error?.status === 403;
  useEffect(() => {
    addEventListener('click', followLinks);
    return () => removeEventListener('click', followLinks);
  }, []);
  useEffect(startScrollBack, []);
  useEffect(() => {
    if (isRefused) leave('refused');
  }, [isRefused]);
  const environment = tenant === null ? null : environmentOf(tenant, place.search);
  const setEnvironment = (alias: string, how: 'push' | 'replace') => {
    const search = new URLSearchParams(place.search);
    search.set('environment', alias);
    // A view belongs to one environment.
    if (how === 'push') search.delete('id');
    go(`${location.pathname}?${search}${location.hash}`, how);
  };
  // If there are several, the address names the environment, so that it can be shared.
  const isNamed = tenant?.environments.length === 1 || place.search.get('environment') === environment;
  useLayoutEffect(() => {
    if (environment !== null && !isNamed) setEnvironment(environment, 'replace');
  }, [environment, isNamed]);
  if (tenant === null || environment === null) {
    return (
      <main class="key-page">{error === null ? <Loading /> : <ErrorBox error={error} retry={reload} />}</main>
    );
  }
  const [first = '', ...rest] = place.path.split('/').map(decoded);
  const page = pages.find(({ path }) => path === first);
  return (
    <TenantContext.Provider
      value={{ tenant, environment, setEnvironment: (alias) => setEnvironment(alias, 'push') }}
    >
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Navigation current={first} leave={() => leave('none')} />
      <main id="content" tabIndex={-1} aria-label={page?.name}>
        {page === undefined ? <Nowhere /> : <div key={first}>{page.show(rest)}</div>}
      </main>
    </TenantContext.Provider>
  );
}

/** The environment of the view in the address, else the one in the address, else that of this tab, else the first. */
function environmentOf({ environments }: Tenant, search: URLSearchParams): string {
  const aliases = environments.map(({ alias }) => alias);
  const ofView = viewParts(search.get('id') ?? '')?.environmentId;
  const named = environments.find(({ id }) => id === ofView)?.alias ?? search.get('environment');
  const wanted = [named, sessionStorage.getItem(environmentName)].find(
    (alias) => alias !== null && aliases.includes(alias),
  );
  const alias = wanted ?? aliases[0] ?? '';
  sessionStorage.setItem(environmentName, alias);
  return alias;
}

const environmentName = 'millrace-environment';

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function Nowhere() {
  return (
    <>
      <PageHead title="Page not found" />
      <p>
        The console has no such page. <a href="/console">Go to the overview</a>
      </p>
    </>
  );
}

const waitMs = 5_000;

/**
 * Scrolls to where the user left a page, when the back button leads to it. The browser tries that before the page has loaded its
 * content. `go` stores the position in the history.
 */
function startScrollBack(): () => void {
  history.scrollRestoration = 'manual';
  let end = () => {};
  const restore = ({ state }: PopStateEvent) => {
    end();
    const wanted = isPlace(state) ? state.scrollY : 0;
    const scroll = () => {
      scrollTo(0, wanted);
      if (Math.abs(scrollY - wanted) < 1) end();
    };
    const sizes = new ResizeObserver(scroll);
    const timer = setTimeout(() => end(), waitMs);
    end = () => {
      clearTimeout(timer);
      sizes.disconnect();
    };
    sizes.observe(document.body);
  };
  // Who scrolls or types meanwhile is not interrupted.
  const stop = () => end();
  addEventListener('popstate', restore);
  for (const name of userEvents) addEventListener(name, stop, { passive: true });
  return () => {
    end();
    removeEventListener('popstate', restore);
    for (const name of userEvents) removeEventListener(name, stop);
  };
}

const userEvents = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const;

function isPlace(state: unknown): state is { readonly scrollY: number } {
  return (
    typeof state === 'object' && state !== null && 'scrollY' in state && typeof state.scrollY === 'number'
  );
}

interface KeyFormProps {
  /** True if the key that this tab had is no longer accepted. */
  readonly isRefused: boolean;
  readonly onKey: () => void;
}

/** Asks for the key, and stores it if it is valid. */
function KeyForm({ isRefused, onKey }: KeyFormProps) {
  const [message, setMessage] = useState<string | null>(isRefused ? refusedText : null);
  const [isAsking, setIsAsking] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const key = String(new FormData(event.currentTarget).get('key') ?? '').trim();
    if (key === '') {
      setMessage('Enter a key.');
      return;
    }
    setIsAsking(true);
    try {
      await request('/tenant', { key });
      keepKey(key);
      onKey();
    } catch (error) {
      setMessage(messageOf(error));
      setIsAsking(false);
    }
  };
  return (
    <main class="key-page">
      <form class="panel key-form" onSubmit={submit}>
        <h1>
          <img src="/console/assets/icon.svg" alt="" width="28" height="28" /> Millrace
        </h1>
        <p>
          See what your content is made of, which pages show it, and why it last changed. Enter a management
          key of your tenant.
        </p>
        <label for="key">Management key</label>
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          autofocus
          aria-describedby="key-note"
          aria-invalid={message !== null}
        />
        {message !== null && (
          <p class="error-text" role="alert">
            {message}
          </p>
        )}
        <button type="submit" class="main" disabled={isAsking}>
          Open the console
        </button>
        <p id="key-note" class="quiet">
          The key stays in this tab and is sent only to this server. You find your keys under{' '}
          <code>managementClients</code> in <code>tenant.json</code>.
        </p>
      </form>
    </main>
  );
}

const refusedText =
  'Your key is no longer accepted. Enter another one to continue here; your edits are kept.';

function messageOf(error: unknown): string {
  if (!(error instanceof RequestError)) return String(error);
  if (error.status === 401) return 'Unknown key.';
  if (error.status === 403) return 'This key is not a management key with the scope read.';
  return error.message;
}
