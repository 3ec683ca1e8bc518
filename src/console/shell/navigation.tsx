import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ChangesPage } from '../changes/changes-page.tsx';
import { ContentPage } from '../content/content-page.tsx';
import { OverviewPage } from '../overview/overview-page.tsx';
import { pageHref, visit } from '../parts/addresses.ts';
import { FindAnywhere, focusSearch } from '../parts/find-anywhere.tsx';
import { useTenant } from '../parts/tenant-context.ts';
import { QueryPage } from '../query/query-page.tsx';
import { SchemasPage } from '../schemas/schemas-page.tsx';
import { UrlsPage } from '../urls/urls-page.tsx';
import { ViewPage } from '../view/view-page.tsx';

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

const chordMs = 1500;

function Shortcuts() {
  const dialog = useRef<HTMLDialogElement>(null);
  // A layout effect, so that shortcuts work as soon as the page is visible.
  useLayoutEffect(() => {
    let startedMs = 0;
    const press = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const isChord = event.timeStamp - startedMs < chordMs;
      startedMs = event.key === 'g' ? event.timeStamp : 0;
      if (event.key === '?') dialog.current?.showModal();
      else if (event.key === '/') focusSearch(event);
      else if (isChord) goTo(event.key);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button type="button" class="plain" onClick={() => dialog.current?.showModal()}>
        <kbd>?</kbd> Shortcuts
      </button>
      <dialog ref={dialog} class="panel" aria-labelledby="shortcuts-head">
        <h2 id="shortcuts-head">Shortcuts</h2>
        <dl class="shortcuts">
          {pages.map(({ name, letter }) => (
            <div key={letter}>
              <dt>
                <kbd>g</kbd> <kbd>{letter}</kbd>
              </dt>
              <dd>{name}</dd>
            </div>
          ))}
          <div>
            <dt>
              <kbd>/</kbd>
            </dt>
            <dd>Search by URL, id or words</dd>
          </div>
          <div>
            <dt>
              <kbd>?</kbd>
            </dt>
            <dd>This list</dd>
          </div>
          <div>
            <dt>
              <kbd>Esc</kbd>
            </dt>
            <dd>Close</dd>
          </div>
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog[open]') !== null;
}

function goTo(letter: string): void {
  const page = pages.find((one) => one.letter === letter);
  if (page !== undefined) visit(pageHref(page.path));
}

interface Page {
  readonly name: string;
  /** After `/console/`. */
  readonly path: string;
  /** The shortcut after `g`. */
  readonly letter: string;
  /** @param rest segments of the path after the page's own */
  show(rest: readonly string[]): ComponentChildren;
}

/** In the order of the navigation. */
export const pages: readonly Page[] = [
  { name: 'Overview', path: '', letter: 'o', show: () => <OverviewPage /> },
  { name: 'Content', path: 'content', letter: 'c', show: (rest) => <ContentPage rest={rest} /> },
  { name: 'View', path: 'view', letter: 'v', show: () => <ViewPage /> },
  { name: 'URLs', path: 'urls', letter: 'u', show: () => <UrlsPage /> },
  { name: 'Query', path: 'query', letter: 'q', show: () => <QueryPage /> },
  {
    name: 'Schemas',
    path: 'schemas',
    letter: 's',
    show: (rest) => <SchemasPage document={rest.join('/')} />,
  },
  { name: 'Changes', path: 'changes', letter: 'h', show: () => <ChangesPage /> },
];
