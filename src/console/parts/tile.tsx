import type { ComponentChildren } from 'preact';
import type { Meaning } from './state.tsx';

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly means?: Meaning;
  readonly href?: string;
  readonly children?: ComponentChildren;
}

/** A figure with its name. */
export function Tile({ name, value, means = 'quiet', href, children }: TileProps) {
  return (
    <div class="tile">
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd class={means}>
        {value}
        {children !== undefined && <small>{children}</small>}
      </dd>
    </div>
  );
}
