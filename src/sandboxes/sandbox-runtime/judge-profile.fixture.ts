/** One expression of a seatbelt profile: a word, a text, or a list of expressions. */
type Expression = string | { readonly text: string } | readonly Expression[]

/**
 * What a seatbelt profile says of an operation on a path, as far as the profiles of the library go: of the rules that name the operation,
 * the last one that fits the path counts.
 */
export function judgeProfile(profile: string, operation: string, path: string): 'allow' | 'deny' {
  const rules = readExpressions(profile).filter((each) => Array.isArray(each))
  const last = rules.findLast(([effect, ...rest]) => {
    if (effect !== 'allow' && effect !== 'deny') return false
    const names = rest.filter((each) => typeof each === 'string')
    const filters = rest.filter((each) => Array.isArray(each)).filter(([kind]) => kind !== 'with')
    const named = names.some((name) => covers(name, operation))
    return named && (filters.length === 0 || filters.some((filter) => fits(filter, path)))
  })
  return last?.[0] === 'allow' ? 'allow' : 'deny'
}

function covers(name: string, operation: string): boolean {
  return (
    name === 'default' || (name.endsWith('*') ? operation.startsWith(name.slice(0, -1)) : name === operation)
  )
}

function fits([kind, ...rest]: readonly Expression[], path: string): boolean {
  const value = typeof rest[0] === 'object' && 'text' in rest[0] ? rest[0].text : ''
  const inner = rest.filter((each) => Array.isArray(each))
  if (kind === 'subpath') return value === '/' || path === value || path.startsWith(`${value}/`)
  if (kind === 'literal') return path === value
  if (kind === 'regex') return new RegExp(value).test(path)
  if (kind === 'require-not') return inner.every((each) => !fits(each, path))
  if (kind === 'require-all') return inner.every((each) => fits(each, path))
  // Of another kind, such as a type of file or an address: it says nothing of plain files.
  return false
}

function readExpressions(profile: string): readonly Expression[] {
  const tokens = profile.match(/;.*|"(?:[^"\\]|\\.)*"|[()]|[^\s()";]+/g) ?? []
  const open: Expression[][] = [[]]
  for (const token of tokens) {
    if (token.startsWith(';')) continue
    if (token === '(') open.push([])
    else if (token === ')') {
      const list = open.pop() ?? []
      open.at(-1)?.push(list)
    } else open.at(-1)?.push(token.startsWith('"') ? { text: String(JSON.parse(token)) } : token)
  }
  if (open.length !== 1) throw new Error('This profile has brackets without their other half.')
  return open[0] ?? []
}
