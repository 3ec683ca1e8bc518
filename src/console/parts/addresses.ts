/**
 * The current location in the console. The address bar is the only state that pages share. Addresses contain everything that is
 * needed to share a page, and no secrets.
 */
import { useLayoutEffect, useState } from 'preact/hooks';
import { type Parameters, withParameters } from '../api/request.ts';

const home = '/console';

export interface Place {
  /** After `/console`, without surrounding slashes; '' is the overview. */
  readonly path: string;
  readonly search: URLSearchParams;
}

const changed = new EventTarget();

function here(): Place {
  const path = location.pathname.slice(home.length).replace(/^\/+|\/+$/g, '');
  return { path, search: new URLSearchParams(location.search) };
}

/** Goes to an address of the console. `replace` replaces the current history entry, for text that is being typed. */
export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') {
    history.replaceState({ scrollY }, '');
    history.pushState(null, '', href);
  } else history.replaceState(history.state, '', href);
  changed.dispatchEvent(new Event('change'));
  if (how === 'push') scrollTo(0, 0);
}

/** Goes to another page and moves the keyboard focus there, so that the next Tab leads into it. */
export function visit(href: string): void {
  go(href);
  document.getElementById('content')?.focus({ preventScroll: true });
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  // A layout effect, because users may navigate before the paint.
  useLayoutEffect(() => {
    const update = () => setPlace(here());
    changed.addEventListener('change', update);
    addEventListener('popstate', update);
    return () => {
      changed.removeEventListener('change', update);
      removeEventListener('popstate', update);
    };
  }, []);
  return place;
}

/** Handles clicks on links. Links into the console change the address instead of loading a page. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = event.target instanceof Element ? event.target.closest('a') : null;
  const href = anchor?.getAttribute('href') ?? null;
  if (href === null || href.startsWith('#')) return;
  // SVG anchors do not have URL properties.
  const url = new URL(href, location.href);
  if (url.origin !== location.origin) return;
  if (url.pathname !== home && !url.pathname.startsWith(`${home}/`)) return;
  event.preventDefault();
  visit(url.pathname + url.search);
}

export function pageHref(page: string, parameters: Parameters = {}): string {
  return withParameters(page === '' ? home : `${home}/${page}`, parameters);
}

export function viewHref(id: string): string {
  return pageHref('view', { id });
}

export function findHref(text: string): string {
  return pageHref('content', { find: text });
}

export function urlHref(url: string, environment: string | null = null): string {
  return pageHref('urls', { url, environment });
}

export function entitiesHref(sourceGroup: string, parameters: Parameters = {}): string {
  return pageHref(`content/${encodeURIComponent(sourceGroup)}`, parameters);
}

export function scheduleHref(after: string | null = null): string {
  return pageHref('content', { show: 'schedule', after });
}

export function entityHref(sourceGroup: string, originId: string): string {
  return pageHref(`content/${encodeURIComponent(sourceGroup)}/${encodeURIComponent(originId)}`);
}

export function schemaHref(path: string, parameters: Parameters = {}): string {
  return pageHref(`schemas/${path.split('/').map(encodeURIComponent).join('/')}`, parameters);
}

/** The parts of a view id. */

export interface ViewParts {
  readonly environmentId: string;
  readonly sourceId: string;
  readonly originId: string;
  readonly alias: string;
}

const viewPattern = /^gid:\/\/Environment\/([^/]+)\/Source\/([^/]+)\/Entity\/(.+)\/View\/([A-Za-z0-9_-]+)$/s;
const entityPattern = /^gid:\/\/Source\/([^/]+)\/Entity\/(.+)$/s;

export function viewParts(id: string): ViewParts | null {
  const [, environmentId, sourceId, originId, alias] = viewPattern.exec(id) ?? [];
  if (environmentId === undefined || sourceId === undefined) return null;
  if (originId === undefined || alias === undefined) return null;
  return { environmentId, sourceId, originId, alias };
}

export function entityParts(id: string): { readonly sourceId: string; readonly originId: string } | null {
  const [, sourceId, originId] = entityPattern.exec(id) ?? [];
  return sourceId === undefined || originId === undefined ? null : { sourceId, originId };
}
