import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

export interface PageHeadProps {
  readonly title: string;
  /** Breadcrumbs above the title. */
  readonly trail?: readonly { readonly name: string; readonly href: string }[];
  /** One sentence about the page. */
  readonly about?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function PageHead({ title, trail = [], about, children }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  return (
    <div class="page-head">
      {trail.length > 0 && (
        <p class="trail">
          {trail.map(({ name, href }) => (
            <span key={href}>
              <a href={href}>{name}</a>
            </span>
          ))}
        </p>
      )}
      <h1>{title}</h1>
      {children}
      {about !== undefined && <p class="quiet about">{about}</p>}
    </div>
  );
}
