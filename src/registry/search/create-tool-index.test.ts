import { expect, test } from 'vitest'
import { createToolIndex } from './create-tool-index.ts'

interface Described {
  readonly name: string
  readonly description: string
}

/** Many tools that say little, as those of an API do. */
const short: readonly Described[] = ['report', 'route', 'score', 'table', 'track'].flatMap((thing) =>
  ['calculate', 'convert', 'update', 'check'].map((verb) => ({
    name: `api.${verb}_${thing}`,
    description: `${verb} the ${thing} by its coordinates.`,
  })),
)

function firstOf(query: string, ...more: readonly Described[]): string | undefined {
  const index = createToolIndex([...short, ...more], ({ name, description }) => ({
    name,
    description,
    inputSchema: {},
  }))
  return [...index.search(query)][0]?.name
}

test('a tool that says much of itself is found among tools that say little (POOL-8)', () => {
  const manual = 'Results are sorted, paged and cached for a while, and errors name what to do next. '.repeat(
    2,
  )
  const geocode = {
    name: 'mcp.maps.reverse_lookup',
    description: `Turns geographic coordinates into a street address. ${manual}`,
  }
  expect(firstOf('convert geographic coordinates to a detailed address', geocode)).toBe(geocode.name)
})

test('a path in a query asks for files, whatever its words are (POOL-8)', () => {
  const read = { name: 'disk.read_file', description: 'Reads a file.' }
  const open = { name: 'app.open_project', description: 'Opens a project.' }
  expect(firstOf('open /data/notes.txt', open, read)).toBe(read.name)
})

test('a number in a query says little (POOL-8)', () => {
  const models = { name: 'mesh.export', description: 'Exports 40.' }
  expect(firstOf('the score of player 40', models)).toBe('api.calculate_score')
})

test('what people ask to get, a tool may search, and what they write, it may add (POOL-8)', () => {
  const search = { name: 'cards.search_cards', description: 'Searches for cards.' }
  const order = { name: 'shop.ship_cards', description: 'Ships some cards.' }
  expect(firstOf('get the cards', order, search)).toBe(search.name)
  const addText = { name: 'paper.add_text', description: 'Adds text to a document.' }
  const copyText = { name: 'paper.copy_text', description: 'Copies text to a document.' }
  expect(firstOf('write text to a document', copyText, addText)).toBe(addText.name)
})
