import { useEffect, useState } from 'preact/hooks';
import type { Tenant } from '../api/answers.ts';
import { forgetKey, keptKey } from '../api/request.ts';
import { useGet } from '../api/use-get.ts';
import { followLinks, go, usePlace } from '../parts/addresses.ts';
import { ErrorBox } from '../parts/notices.tsx';
import { TenantContext } from '../parts/tenant-context.ts';
import { KeyForm } from './key-form.tsx';
import { Navigation } from './navigation.tsx';
import { pages } from './pages.tsx';

export function App() {
  const [hasKey, setHasKey] = useState(keptKey() !== null);
  const leave = () => {
    forgetKey();
    setHasKey(false);
  };
  return hasKey ? <Opened leave={leave} /> : <KeyForm onKey={() => setHasKey(true)} />;
}

function Opened({ leave }: { readonly leave: () => void }) {
  const place = usePlace();
  const { data: tenant, error, reload } = useGet<Tenant>('/tenant');
  const isRefused = error?.status === 401 || error?.status === 403;
  useEffect(() => {
    addEventListener('click', followLinks);
    return () => removeEventListener('click', followLinks);
  }, []);
  useEffect(() => {
    if (isRefused) leave();
  }, [isRefused]);
  if (tenant === null) {
    return (
      <main class="key-page">
        {error !== null && !isRefused && <ErrorBox error={error} retry={reload} />}
      </main>
    );
  }
  const environment = environmentOf(tenant, place.search.get('environment'));
  const setEnvironment = (alias: string) => {
    const search = new URLSearchParams(place.search);
    search.set('environment', alias);
    go(`${location.pathname}?${search}`);
  };
  const [first = '', ...rest] = place.path.split('/').map(decoded);
  const page = pages.find(({ path }) => path === first);
  return (
    <TenantContext.Provider value={{ tenant, environment, setEnvironment }}>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Navigation current={first} leave={leave} />
      <main id="content" tabIndex={-1}>
        {page === undefined ? <Nowhere /> : <div key={first}>{page.show(rest)}</div>}
      </main>
    </TenantContext.Provider>
  );
}

/** The environment in the address, else that of this tab, else the first. */
function environmentOf({ environments }: Tenant, named: string | null): string {
  const aliases = environments.map(({ alias }) => alias);
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
      <h1>Page not found</h1>
      <p>
        The console has no such page. <a href="/console">Go to the overview</a>
      </p>
    </>
  );
}
