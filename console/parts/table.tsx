import type { ComponentChild } from 'preact'

/** The name of a column, and whether its cells are numbers. */
export type Column = string | readonly [name: string, kind: 'number']

interface TableProps {
  readonly label: string
  readonly columns: readonly Column[]
  readonly rows: readonly { readonly key: string; readonly cells: readonly ComponentChild[] }[]
}

/** A table; on a narrow screen each row is a paragraph whose cells say what they are. */
export function Table({ label, columns, rows }: TableProps) {
  return (
    <table class="rows" aria-label={label}>
      <TableHead columns={columns} />
      <tbody>
        {rows.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map((cell, index) => {
              const [name, kind] = partsOf(columns[index])
              return (
                <td key={name} class={kind} data-name={name}>
                  {cell}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function TableHead({ columns }: { columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const [name, kind] = partsOf(column)
          return (
            <th key={name} scope="col" class={kind}>
              {name}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

function partsOf(column: Column = ''): readonly [name: string, kind: string | undefined] {
  return typeof column === 'string' ? [column, undefined] : column
}
