/** Serves lists of cities from PostgreSQL, over a round-robin pool of connections. */
import { connectPostgres, type SqlConnection } from '../contenders/postgres.ts';
import type { Entity } from '../data/sets.ts';
import {
  cityValues,
  countStatement,
  indexes,
  listStatement,
  placeValues,
  type Row,
  type SqlLists,
  tables,
} from './sql.ts';

const connectionCount = 8;
const rowsPerInsert = 500;

export async function postgresLists(entities: readonly Entity[]): Promise<SqlLists> {
  const connections = await Promise.all(Array.from({ length: connectionCount }, connectPostgres));
  const [first] = connections;
  if (first === undefined) throw new RangeError('there are no connections');
  for (const text of ['drop table if exists place, city', ...tables]) await first.query({ text });
  const cities = entities.filter(({ type }) => type === 'city');
  const places = entities.filter(({ type }) => type !== 'city');
  await insert(first, 'place', places.map(placeValues));
  await insert(first, 'city', cities.map(cityValues));
  for (const text of [...indexes, 'vacuum analyze place', 'vacuum analyze city']) await first.query({ text });
  let turn = 0;
  return {
    answer: async ({ from, to, size, levels }) => {
      turn += 1;
      const connection = connections[turn % connectionCount] ?? first;
      const [counted, listed] = await Promise.all([
        connection.query({ name: 'count', text: countStatement, values: [from, to] }),
        connection.query({ name: `list-${levels}`, text: listStatement(levels), values: [from, to, size] }),
      ]);
      return { total: Number(counted.rows[0]?.total), rows: listed.rows.map(rowOf) };
    },
  };
}

/** The statement names its columns like the members of `Row`. */
function rowOf(row: Readonly<Record<string, unknown>>): Row {
  const { properties, url, ...cards } = row;
  const texts = Object.fromEntries(
    Object.entries(cards).map(([name, text]) => [name, typeof text === 'string' ? text : null]),
  );
  return { ...texts, properties: String(properties), url: String(url) };
}

async function insert(connection: SqlConnection, table: string, rows: readonly unknown[][]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerInsert) {
    const some = rows.slice(from, from + rowsPerInsert);
    let next = 0;
    const values = some.map((row) => `(${row.map(() => `$${++next}`).join(', ')})`);
    await connection.query({ text: `insert into ${table} values ${values.join(', ')}`, values: some.flat() });
  }
}
