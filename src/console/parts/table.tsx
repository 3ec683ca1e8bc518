import type { ComponentChildren } from 'preact';

export interface Head {
  readonly name: string;
  readonly isNumber?: boolean;
}

interface TableProps {
  readonly label: string;
  readonly heads: readonly Head[];
  /** Cells in the order of the heads. */
  readonly rows: readonly (readonly ComponentChildren[])[];
}

/** A table that scrolls horizontally on narrow screens. */
export function Table({ label, heads, rows }: TableProps) {
  return (
    <section class="table-box" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {heads.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={isNumber === true ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, at) => (
                <td key={at} class={heads[at]?.isNumber === true ? 'number' : undefined}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
