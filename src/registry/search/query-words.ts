import { splitWords } from '../../kit/ranking/split-words.ts'
import { stemWord } from '../../kit/ranking/stem-word.ts'

/** Words that say nothing of what a tool does, whether in a description or in a query. */
const empty: ReadonlySet<string> = new Set(
  'a an and are as at be but by for from i if in is it its me my of on or that the their them then these they this those to us was we were with would you your also am'.split(
    ' ',
  ),
)

/** Words that people put around what they ask for. */
const courtesy: ReadonlySet<string> = new Set(
  'been can could did do does had has have how into just like our please so some there want what when where which who will about any help need should looking let know give provide tell using use used given id'.split(
    ' ',
  ),
)

/** Words that tools and people use for the same. */
const related: ReadonlyMap<string, ReadonlySet<string>> = toRelated(`
  create add new make generate insert
  delete remove erase
  get fetch retrieve show obtain read search
  open read view
  write add append insert
  search find lookup query discover
  update edit modify change
  begin start launch run execute
  stop end cancel abort
  picture image photo
  movie film
  mail email
  calculate compute determine
  convert translate transform
  weather forecast temperature
  song track music
  doc document
  directory folder
  buy purchase order
  flight airline airplane
  hotel accommodation lodging
  stock share equity
  price cost quote
  probability chance odds
  send deliver
  book reserve
  restaurant dining
  car vehicle automobile
  phone telephone
  repo repository
  company business firm
  issue bug ticket
  shipment parcel package
  news headline article
  url link
  website page site
  joke humor
  game match
  team club
  holiday vacation
  rate exchange
  currency money
  location place
  nearby near close nearest
  route direction
  user account profile
  verify validate check`)

function toRelated(lines: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const line of lines.trim().split('\n')) {
    const stems = line.trim().split(' ').map(stemWord)
    for (const stem of stems)
      found.set(stem, new Set([...(found.get(stem) ?? []), ...stems.filter((each) => each !== stem)]))
  }
  return found
}

/** How much a word counts that the query does not have itself. */
const relatedWeight = 0.2
const hintWeight = 1
const insideWeight = 0.4
/** How soon a word counts no more for being said again. */
const repeats = 0.5

/** A number, or a letter alone, is a value too. */
const bare = /^(?:\d+|[a-z])$/

/** Values that stand in a query, each with the word for what it is. */
const values: readonly (readonly [form: RegExp, word: string])[] = [
  [/\bhttps?:\/\/[^\s'"<>]+/gi, 'url'],
  [/\b[\w.+-]+@[\w-]+\.[\w.]+/g, 'email'],
  [/(?<![\w./])(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.-]+(?:[/\\][\w.-]+)*/g, 'file'],
]

/** The stem of a word; undefined if it says nothing of what a tool does. */
export function toStem(word: string): string | undefined {
  return empty.has(word) ? undefined : stemWord(word)
}

/**
 * The stems that a query asks for, each with its weight. A path, URL or address is a value: what it is counts, and its words count little. Words that
 * mean the same count a little too.
 */
export function toQueryWords(query: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const add = (word: string, weight: number): void => {
    const stem = courtesy.has(word) ? undefined : toStem(word)
    if (stem !== undefined) counts.set(stem, (counts.get(stem) ?? 0) + weight)
  }
  let rest = query
  for (const [form, word] of /[/\\@]/.test(query) ? values : [])
    rest = rest.replace(form, (value) => {
      add(word, hintWeight)
      splitWords(value, (inside) => add(inside, insideWeight))
      return ' '
    })
  splitWords(rest, (word) => add(word, bare.test(word) ? insideWeight : 1))
  const weights = new Map<string, number>()
  for (const [stem, count] of counts) weights.set(stem, (count * (repeats + 1)) / (count + repeats))
  for (const stem of counts.keys())
    for (const other of related.get(stem) ?? [])
      if (!counts.has(other))
        weights.set(other, Math.max(weights.get(other) ?? 0, (weights.get(stem) ?? 0) * relatedWeight))
  return weights
}
