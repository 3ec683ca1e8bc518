import { useLayoutEffect, useRef } from 'preact/hooks';
import { pageHref } from '../parts/addresses.ts';
import { FindAnywhere } from '../parts/find-anywhere.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { pages } from './pages.tsx';
import { Shortcuts } from './shortcuts.tsx';

/** @param current first segment of the address after `/console/` */
export function Navigation({ current, leave }: { readonly current: string; readonly leave: () => void }) {
  const { tenant, environment, setEnvironment } = useTenant();
  const tabs = useRef<HTMLElement>(null);
  // If the tabs are wider than the screen, scroll the open tab to the middle.
  useLayoutEffect(() => {
    const [box, open] = [tabs.current, tabs.current?.querySelector<HTMLElement>('[aria-current]')];
    if (box === null || open == null) return;
    box.scrollLeft = open.offsetLeft - box.offsetLeft + (open.offsetWidth - box.clientWidth) / 2;
  }, [current]);
  return (
    <header class="side">
      <div class="brand">
        <img src="/console/assets/icon.svg" alt="" width="24" height="24" />
        <strong>Millrace</strong>
        <span class="quiet tenant">{tenant.alias}</span>
      </div>
      <FindAnywhere />
      <nav ref={tabs} aria-label="Pages">
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
