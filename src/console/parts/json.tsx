/** JSON as a folding tree. References are links to their views. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { viewHref } from './addresses.ts';
import { Copy } from './copy.tsx';
import { ViewName } from './view-links.tsx';

const openDepth = 4;
const shownMax = 100;

export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <div class="code-box">
      <Copy text={JSON.stringify(value, null, 2)} what={label} />
      <section class="json" aria-label={label} tabIndex={0}>
        <Node value={value} depth={0} name={null} isLast />
      </section>
    </div>
  );
}

interface NodeProps {
  readonly value: unknown;
  readonly depth: number;
  /** Null for array items and the root. */
  readonly name: string | null;
  readonly isLast: boolean;
}

function Node({ value, depth, name, isLast }: NodeProps) {
  const reference = referenceOf(value);
  if (reference === null && typeof value === 'object' && value !== null) {
    return <Branch value={value} depth={depth} name={name} isLast={isLast} />;
  }
  return (
    <div class="json-line">
      <Name name={name} />
      {reference === null ? <Leaf value={value} /> : <Reference id={reference} />}
      {isLast ? '' : ','}
    </div>
  );
}

function Branch({ value, depth, name, isLast }: NodeProps & { readonly value: object }) {
  const members = Array.isArray(value)
    ? value.map((item): [null, unknown] => [null, item])
    : Object.entries(value);
  const [isOpen, setIsOpen] = useState(depth < openDepth);
  const [limit, setLimit] = useState(shownMax);
  const [begin, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const comma = isLast ? '' : ',';
  if (members.length === 0) {
    return (
      <div class="json-line">
        <Name name={name} />
        {`${begin}${end}${comma}`}
      </div>
    );
  }
  return (
    <div>
      <div class="json-line">
        <button
          type="button"
          class="fold"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${name ?? 'item'}`}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? '▾' : '▸'}
        </button>
        <Name name={name} />
        {isOpen ? begin : `${begin} ${members.length} ${end}${comma}`}
      </div>
      {isOpen && (
        <>
          <div class="json-members">
            {members.slice(0, limit).map(([key, member], at) => (
              <Node
                key={key ?? at}
                name={key}
                value={member}
                depth={depth + 1}
                isLast={at === members.length - 1}
              />
            ))}
            {members.length > limit && (
              <button type="button" onClick={() => setLimit(limit * 10)}>
                {`Show more (${members.length} in total)`}
              </button>
            )}
          </div>
          <div class="json-line">{`${end}${comma}`}</div>
        </>
      )}
    </div>
  );
}

function Name({ name }: { readonly name: string | null }): ComponentChildren {
  return name === null ? null : <span class="json-name">{`${JSON.stringify(name)}: `}</span>;
}

function Leaf({ value }: { readonly value: unknown }) {
  const kind = value === null ? 'null' : typeof value;
  return <span class={`json-${kind}`}>{JSON.stringify(value)}</span>;
}

function Reference({ id }: { readonly id: string }) {
  return (
    <a href={viewHref(id)} class="json-reference" title={id}>
      <ViewName id={id} />
    </a>
  );
}

/** The id in `{"$view": id}`, the form of references in explanations; null for anything else. */
function referenceOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('$view' in value)) return null;
  const id = value.$view;
  return typeof id === 'string' && Object.keys(value).length === 1 ? id : null;
}
