import { pageHref } from './addresses.ts';
import { FindAnywhere } from './find-anywhere.tsx';
import { pages } from './pages.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { useTenant } from './tenant.ts';

/** @param current first part of the address, after `/console/` */
export function Navigation({ current, leave }: { readonly current: string; readonly leave: () => void }) {
  const { tenant, environment, setEnvironment } = useTenant();
  return (
    <header class="side">
      <div class="brand">
        <img src="/console/assets/icon.svg" alt="" width="24" height="24" />
        <strong>Millrace</strong>
        <span class="quiet tenant">{tenant.alias}</span>
      </div>
      <FindAnywhere />
      <nav aria-label="Pages">
        {pages.map(({ name, path }) => (
          <a key={path} href={pageHref(path)} aria-current={path === current ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <div class="side-foot">
        {tenant.environments.length > 1 && (
          <select
            aria-label="Environment"
            value={environment}
            onChange={({ currentTarget }) => setEnvironment(currentTarget.value)}
          >
            {tenant.environments.map(({ alias }) => (
              <option key={alias}>{alias}</option>
            ))}
          </select>
        )}
        <Shortcuts />
        <button type="button" class="plain" onClick={leave}>
          Forget the key
        </button>
      </div>
    </header>
  );
}
