/** The name of a column, and whether its cells are numbers. */
export type Column = string | readonly [name: string, kind: 'number']

export function TableHead({ columns }: { columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const [name, kind] = typeof column === 'string' ? [column, undefined] : column
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
