import { hasOwnSession } from './own-session.ts'
import { sql, type ColumnDataType, type Compilable, type RawBuilder, type SchemaModule } from 'kysely'

/** What the dialects call their types. */
export interface ColumnTypes {
  /** A column that counts up by itself, primary key. */
  counter: ColumnDataType
  bytes: ColumnDataType
  /** The member of this name of the JSON text in this column. */
  member: (column: string, name: string) => RawBuilder<unknown>
}

/** One step from a version of the tables to the next. Its statements run in one transaction. */
export type Migration = (schema: SchemaModule, types: ColumnTypes) => Compilable[]

/** Tables whose rows are sealed. */
const sealed = ['heads', 'facts', 'keys', 'shares']

/** Members of a record's text that are asked for. */
const recordMembers = ['kind', 'session', 'call']

/** Every step, oldest first. A step that was released never changes; a new version is a new step. */
export const migrations: readonly Migration[] = [
  (schema, types) => [
    schema
      .createTable('records')
      .addColumn('position', types.counter, (column) => column.primaryKey())
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('session', 'text', (column) => column.notNull())
      .addColumn('call', 'text', (column) => column.notNull())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('hash', types.bytes, (column) => column.notNull())
      .addColumn('body', 'text'),
    schema.createIndex('records_sequence').unique().on('records').columns(['tenant', 'sequence']),
    schema.createIndex('records_call').on('records').column('call').where(sql.ref('kind'), '<>', 'end'),
    // Two recoveries at the same time must not both end a call.
    schema
      .createIndex('records_end')
      .unique()
      .on('records')
      .column('call')
      .where(sql.ref('kind'), '=', 'end'),
    schema
      .createTable('heads')
      .addColumn('tenant', 'text', (column) => column.primaryKey().notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('hash', types.bytes, (column) => column.notNull()),
    schema
      .createTable('writers')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('pid', 'integer', (column) => column.notNull())
      .addColumn('started', 'text', (column) => column.notNull())
      .addColumn('first_open', 'bigint', (column) => column.notNull())
      .addColumn('closed', 'integer', (column) => column.notNull()),
    schema
      .createTable('keys')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('input_digest', 'text', (column) => column.notNull())
      .addColumn('call', 'text', (column) => column.notNull())
      .addColumn('writer', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('keys_primary', ['tenant', 'tool', 'key']),
  ],
  (schema, types) => [
    // What the text of a record says is not kept a second time, but in the indexes.
    ...['records_call', 'records_end'].map((index) => schema.dropIndex(index)),
    ...recordMembers.map((name) => schema.alterTable('records').dropColumn(name)),
    ...recordMembers.map((name) =>
      schema
        .alterTable('records')
        .addColumn(name, 'text', (column) => column.generatedAlwaysAs(types.member('text', name))),
    ),
    schema.createIndex('records_call').on('records').column('call').where(sql.ref('kind'), '<>', 'end'),
    schema
      .createIndex('records_end')
      .unique()
      .on('records')
      .column('call')
      .where(sql.ref('kind'), '=', 'end'),
    schema.alterTable('keys').addColumn('result', 'text'),
    schema.createIndex('keys_expires_at').on('keys').column('expires_at'),
    schema
      .createTable('facts')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('facts_primary', ['kind', 'tenant', 'id']),
    // `facts` counts the changes of facts.
    schema
      .createTable('counters')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('value', 'bigint', (column) => column.notNull()),
    schema
      .createTable('shares')
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('writer', 'text', (column) => column.notNull())
      .addColumn('spent', 'bigint', (column) => column.notNull())
      .addColumn('held', 'bigint', (column) => column.notNull())
      .addColumn('held_until', 'bigint', (column) => column.notNull())
      .addColumn('ends_at', 'bigint')
      .addPrimaryKeyConstraint('shares_primary', ['account', 'writer']),
    schema.createIndex('shares_ends_at').on('shares').column('ends_at'),
  ],
  (schema, types) => [
    schema
      .createTable('secrets')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('value', types.bytes, (column) => column.notNull()),
  ],
  (schema, types) => [
    // What counts only if a process with the key of the store wrote it has a seal, and a program that knows of no seals cannot write it:
    // new tables, into which the rows are moved when they are sealed. `sealedSince` is this version.
    schema.dropIndex('keys_expires_at'),
    schema.dropIndex('shares_ends_at'),
    ...sealed.map((table) => schema.alterTable(table).renameTo(`unsealed_${table}`)),
    schema
      .createTable('heads')
      .addColumn('tenant', 'text', (column) => column.primaryKey().notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('hash', types.bytes, (column) => column.notNull())
      .addColumn('bodiless', 'bigint', (column) => column.notNull())
      .addColumn('generation', 'bigint', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull()),
    schema
      .createTable('facts')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('facts_primary', ['kind', 'tenant', 'id']),
    schema
      .createTable('keys')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('input_digest', 'text', (column) => column.notNull())
      .addColumn('call', 'text', (column) => column.notNull())
      .addColumn('writer', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull())
      .addColumn('result', 'text')
      .addPrimaryKeyConstraint('keys_primary', ['tenant', 'tool', 'key']),
    schema.createIndex('keys_expires_at').on('keys').column('expires_at'),
    schema
      .createTable('shares')
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('writer', 'text', (column) => column.notNull())
      .addColumn('spent', 'bigint', (column) => column.notNull())
      .addColumn('held', 'bigint', (column) => column.notNull())
      .addColumn('held_until', 'bigint', (column) => column.notNull())
      .addColumn('ends_at', 'bigint')
      .addColumn('seal', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('shares_primary', ['account', 'writer']),
    schema.createIndex('shares_ends_at').on('shares').column('ends_at'),
    schema
      .createTable('sums')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('generation', 'bigint', (column) => column.notNull())
      .addColumn('facts', types.bytes, (column) => column.notNull())
      .addColumn('uses', types.bytes, (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull()),
  ],
  (schema) => [
    // `within` is the group, whose name is a word of the language.
    schema
      .createTable('documents')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('within', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('documents_primary', ['kind', 'tenant', 'within', 'id']),
  ],
  (schema, types) => [
    // Which fact each of the last changes was of: the counter of facts is the version of the last one.
    schema
      .createTable('fact_changes')
      .addColumn('version', types.counter, (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull()),
  ],
  (schema) => [
    // Sessions with an id of their own go on in other processes, and are looked for there.
    schema
      .createIndex('records_session')
      .on('records')
      .columns(['tenant', 'session', 'sequence'])
      .where(sql<boolean>`${sql.raw(hasOwnSession)}`),
  ],
  (schema, types) => [
    // What lists and figures ask of many records, made behind them.
    schema
      .createTable('summaries')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('bodies', 'bigint', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull())
      .addColumn('value', types.bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('summaries_primary', ['tenant', 'number']),
  ],
  (schema, types) => [
    // Older records are packed. What the indexes need stays in the rows of the records.
    schema.alterTable('records').addColumn('packed', 'integer'),
    schema
      .createTable('packs')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('hashes', types.bytes, (column) => column.notNull())
      .addColumn('value', types.bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('packs_primary', ['tenant', 'number']),
  ],
  (schema, types) => [
    // What tells which summaries have to be read, made behind them.
    schema
      .createTable('outlines')
      .addColumn('tenant', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull())
      .addColumn('value', types.bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('outlines_primary', ['tenant', 'number']),
  ],
]
