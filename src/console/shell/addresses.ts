/** Addresses of the console's views. They hold what is needed to share them, and nothing secret. */
import { type Parameters, withParameters } from '../api/request.ts';
import { home } from './place.ts';

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
