/** Lists of cities from an in-memory SQLite database, in the same process. */
import type { Entity } from '../data/sets.ts';
import { requirePeer } from '../peers.ts';
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

/** The part of `better-sqlite3` that is used here. */
interface Statement {
  run(...values: unknown[]): void;
  all(...values: unknown[]): Row[];
  get(...values: unknown[]): { readonly total: number };
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  transaction(act: () => void): () => void;
}

export function sqliteLists(entities: readonly Entity[]): SqlLists {
  const Sqlite: new (file: string) => Database = requirePeer('better-sqlite3');
  const db = new Sqlite(':memory:');
  for (const statement of tables) db.exec(statement);
  const addPlace = db.prepare('insert into place values (?, ?, ?, ?)');
  const addCity = db.prepare('insert into city values (?, ?, ?, ?, ?, ?)');
  db.transaction(() => {
    for (const entity of entities) {
      if (entity.type === 'city') addCity.run(...cityValues(entity));
      else addPlace.run(...placeValues(entity));
    }
  })();
  for (const statement of indexes) db.exec(statement);
  const prepare = (statement: string) => db.prepare(statement.replaceAll(/\$\d/g, '?'));
  const count = prepare(countStatement);
  const lists = new Map([1, 3].map((levels) => [levels, prepare(listStatement(levels))]));
  return {
    answer: ({ from, to, size, levels }) => {
      const { total } = count.get(from, to);
      return { total, rows: lists.get(levels)?.all(from, to, size) ?? [] };
    },
  };
}
